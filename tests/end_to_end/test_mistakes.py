"""What a user can do wrong: one clear line, exit code 2, no traceback, nothing half-written."""

import os
import pickle

import numpy as np
import pytest

from mooring.record import locked

ANNEALED = "{kind: annealed, base: {kind: uncertainty, gradients: joint}}"


def rejected(cli, *arguments):
    code, out, err = cli(*arguments)
    assert code == 2, (out, err)
    assert "Traceback" not in err
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("partition.alhpa=0.1", "did you mean 'alpha'?"),
        ("partition.alpha=-1", "partition.alpha=-1: must be above 0"),
        ("partition.alpha=abc", "partition.alpha=abc: must be a number"),
        ("partition.clients=0", "partition.clients=0: must be 1 or more"),
        ("partition.clients=2000", "more clients than images: clients = 2000, images = 1437"),
        ("partition.min_size=400", "min_size = 400 for 5 clients needs 2000 images"),
        ("partition.kind=sites", "use the image_folder source with one folder per site"),
        ("partition.kind=file", "partition.path: is required and missing"),
        ("method=v99", "method=v99: unknown"),
        ("training.rounds=0", "training.rounds=0: must be 1 or more"),
        ("training.lr=0", "training.lr=0: must be above 0"),
        ("training.batch_size=big", "training.batch_size=big: must be a whole number"),
        (
            "method=v7 model.width=0.2",
            "a simplex of 10 anchors needs 9 feature dimensions, the model has 6; raise model.width",
        ),
        ("data.source=cifar10", "data_batch_1"),
        ("data.limit=5000", "data.limit=5000 is more than the 1437 training images"),
        ("nowhere.yaml", "nowhere.yaml: cannot be read"),
        ("seed=1.5", "seed=1.5: must be a whole number"),
        ("fusion=mean", "method.fusion.kind=mean: unknown"),
        ("method=v7,v7", "method=v7: is given twice"),
        ("seed=-1", "seed=-1: must be 0 to 4294967295"),
        ("empty.yaml", "empty.yaml: is empty"),
    ],
)
def test_a_bad_setting_is_rejected(cli, tmp_path, monkeypatch, override, told):
    monkeypatch.setenv("MOORING_DATA", str(tmp_path / "no-data"))
    (tmp_path / "empty.yaml").touch()
    err = rejected(cli, "run", *override.split())
    assert told in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("verb", ["run", "sweep", "doctor", "partition"])
def test_a_key_given_twice_is_rejected(cli, verb):
    err = rejected(cli, verb, "method=v7", "method=v4")
    assert err == "error: method=v7 and method=v4: give the same key twice; keep one of them\n"


def test_a_missing_folder_of_images_is_named(cli):
    assert "missing-folder" in rejected(cli, "run", "data.source=image_folder", "data.root=missing-folder")


@pytest.mark.parametrize("damage", ["truncated", "evil"])
def test_a_bad_pickle_is_rejected_and_runs_nothing(cli, tmp_path, damage):
    folder = tmp_path / "cifar-10-batches-py"
    folder.mkdir()
    batch = {b"data": np.zeros((2, 3072), np.uint8), b"labels": [0, 1]}
    for name in [*(f"data_batch_{i}" for i in range(1, 6)), "test_batch"]:
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {tmp_path / 'owned'}",)

    good = (folder / "data_batch_3").read_bytes()
    (folder / "data_batch_3").write_bytes(good[:-40] if damage == "truncated" else pickle.dumps(Evil(), protocol=2))
    err = rejected(cli, "run", "data.source=cifar10", f"data.root={tmp_path}")
    assert "data_batch_3" in err
    assert not (tmp_path / "owned").exists()
    assert not (tmp_path / "runs").exists()


def test_images_that_are_not_numbers_are_rejected(cli, tmp_path):
    images = np.zeros((4, 8, 8), np.float32)
    images[2, 3, 3] = np.nan
    labels = np.array([0, 1, 0, 1])
    np.savez(tmp_path / "a.npz", train_images=images, train_labels=labels, test_images=images * 0, test_labels=labels)
    assert "train_images" in rejected(cli, "run", "data.source=arrays", "data.root=a.npz")


def test_a_file_where_the_folder_should_be_is_rejected(cli, tmp_path):
    (tmp_path / "taken").write_text("mine")
    assert "out=taken: cannot be written" in rejected(cli, "run", "out=taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_unwritable_folder_is_rejected(cli):
    """/proc takes no folders from anybody, root included."""
    assert "out=/proc/run: cannot be written" in rejected(cli, "run", "out=/proc/run")


def test_two_runs_in_one_folder_are_rejected(cli, tmp_path):
    with locked(tmp_path / "busy"):
        assert "another run is using this folder" in rejected(cli, "run", "out=busy")


def test_another_experiments_result_is_not_overwritten(cli, tmp_path):
    short = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1", "out=here", "method=v4")
    assert cli("run", *short)[0] == 0
    before = (tmp_path / "here/result.json").read_bytes()
    assert "holds the result of another experiment (v4" in rejected(cli, "run", *short, "seed=2")
    assert (tmp_path / "here/result.json").read_bytes() == before


def test_an_unknown_verb_and_an_unknown_option_are_rejected(cli):
    assert cli("rnu")[0] == 2
    assert cli("run", "--agian")[0] == 2


def test_an_unknown_method_to_show_is_rejected(cli):
    assert "method=v99: unknown" in rejected(cli, "show", "v99")


def test_a_folder_with_other_peoples_files_is_left_alone(cli, tmp_path):
    (tmp_path / "mine/uploads").mkdir(parents=True)
    (tmp_path / "mine/uploads/thesis.txt").write_text("years of work")
    assert "holds 'uploads' and no run" in rejected(cli, "run", "out=mine")
    assert (tmp_path / "mine/uploads/thesis.txt").read_text() == "years of work"


def test_a_result_is_not_returned_when_the_files_behind_it_have_changed(cli, tmp_path):
    quick = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1", "out=here")
    plan = ("partition.kind=file", "partition.path=plan.json")
    assert cli("partition", "--export", "plan.json")[0] == 0
    assert cli("run", *quick, *plan)[0] == 0
    assert cli("run", *quick, *plan)[0] == 0
    assert cli("partition", "seed=2", "--export", "plan.json")[0] == 0
    assert "has changed since this result" in rejected(cli, "run", *quick, *plan)


def test_a_typo_is_told_even_where_only_some_methods_have_the_part(cli):
    assert "did you mean 'value'?" in rejected(cli, "run", "method=v4,v7", "weight.base.vaule=3")
    assert "did you mean 'lr'?" in rejected(cli, "run", "method=v4,v12", "sigma.lrr=3")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["method=v7", "method.client.terms=[]"], "a client must minimise something"),
        (["method=v4", "method.client.terms=[mean-squared]"], "the term mean-squared needs anchors"),
        (["method=v7", "align.anchor=null"], "the term mean-squared needs anchors"),
        (["method=v6", "method.client.stages.0.weights=[1, 2]"], "give each term one weight"),
        (["method=v10", "weight.guard.kind=bound"], "cannot act in a joint loss"),
        (
            ["method=v7", f"weight={ANNEALED}", "weight.base.guard.kind=bound"],
            "weight.base.guard.kind=bound: cannot act in a joint loss; use weight.base.gradients=separate",
        ),
        (
            [
                "method=v7",
                f"weight={{kind: probed, base: {ANNEALED}}}",
                "weight.base.base.ratio=linear",
            ],
            "weight.base.base.ratio=linear: has no place in a joint loss; use weight.base.base.gradients=separate",
        ),
        (["method=closed-form", "weight.minimum=60"], "minimum=60.0: is above"),
        (["training.lr=.inf"], "must be a finite number"),
        (["training.lr=1e300"], "must be above 0, at most 1000000"),
        (["partition.kind=[a]"], 'partition.kind=["a"]: unknown'),
        (["seed={2020-01-01: x}"], "seed"),
        (["out=" + "x" * 300], "cannot be"),
    ],
)
def test_what_cannot_be_is_rejected(cli, settings, told, tmp_path):
    err = rejected(cli, "run", *settings)
    assert told in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_partition_cannot_be_exported_onto_a_folder(cli):
    assert "cannot write" in rejected(cli, "partition", "--export", ".")


def test_names_with_brackets_are_printed_as_they_are(cli):
    quick = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1", "method=v4")
    code, out, _ = cli("run", *quick, "out=a[/v7]")
    assert code == 0
    assert "run folder: a[/v7]" in out


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ('{"format": 2}', "result.json: method: is required and missing; repeat the run with --again"),
        ('{"format": 1}', "result.json: has format 1, this version reads 2"),
        ('{"format": 2, "method": 7}', "result.json: method=7: must be text; repeat the run with --again"),
        ('{"format": 3}', "result.json: has format 3, this version reads 2"),
        ('{"format": 2, "met', "result.json: is not valid JSON"),
    ],
)
def test_a_damaged_run_is_no_traceback_to_the_doctor(cli, tmp_path, damage, told):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/result.json").write_text(damage)
    (tmp_path / "run/experiment.yaml").write_text("method: v7\n")
    (tmp_path / "run/events.jsonl").write_text('5\n{"event": "round"}\n')
    err = rejected(cli, "doctor", "run")
    assert told in err
    assert len(err.splitlines()) == 1


OWN_LOSS = """
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Mine:
    kind: ClassVar[str] = "mine"

    def __call__(self, step):
        return step.views[0].logits.nonsense()
"""


@pytest.mark.parametrize(
    ("name", "old", "new", "told"),
    [
        ("own_syntax", "def __call__", "def", "own_syntax.py:10: SyntaxError: invalid syntax; mend it there"),
        ("own_import", "from typing", "import nowhere_at_all\nfrom typing", "own_import.py:3: ModuleNotFoundError"),
        ("own_plain", "@dataclass(frozen=True)", "", "own_plain.py:7: Mine is not a frozen dataclass"),
        ("own_kind", 'kind: ClassVar[str] = "mine"', "pass", 'Mine has no kind; add kind: ClassVar[str] = "mine"'),
        (
            "own_call",
            "(self, step)",
            "(self)",
            "own_call.py:10: Mine.__call__ cannot be called as it will be; write def",
        ),
        ("own_family", "__call__", "start", "own_family.py:6: Mine is not a valid loss term; add __call__(step)"),
    ],
)
def test_a_part_of_ones_own_is_rejected_in_one_line(cli, tmp_path, name, old, new, told):
    (tmp_path / f"{name}.py").write_text(OWN_LOSS.replace(old, new, 1))
    err = rejected(cli, "run", "method=v4", f"method.client.terms=[{name}:Mine]", "engine.workers=1")
    assert told in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_an_error_in_a_part_of_ones_own_is_one_line_with_its_place(cli, tmp_path):
    (tmp_path / "own_error.py").write_text(OWN_LOSS)
    words = ("method=v4", "method.client.terms=[own_error:Mine]", "engine.workers=1", "out=here", "--quiet")
    err = rejected(cli, "run", *words)
    assert "own_error.py:11: AttributeError: 'Tensor' object has no attribute 'nonsense'" in err
    assert len(err.splitlines()) == 1
