"""Records against bytes: what was changed after it was written is noticed by every reader, in one line."""

import json
import os
import shutil

import pytest

from mooring import load, run_experiment
from mooring.errors import StoreError
from mooring.record import RunFolder, read_fusion, verify

SMALL = ["method=v12", "data.limit=120", "partition.clients=2", "training.rounds=2", "training.local_epochs=1"]
READERS = (("report",), ("doctor",), ("fuse", "--fusion", "class-expert"), ("track", "--to", "tensorboard"))


@pytest.fixture(scope="module")
def returned(tmp_path_factory):
    """A folder, and what the run that made it returned."""
    folder = tmp_path_factory.mktemp("made") / "run"
    (experiment,) = load(overrides=[*SMALL, "engine.workers=1", f"out={folder}"])
    return folder, run_experiment(experiment)


@pytest.fixture(scope="module")
def made(returned):
    return returned[0]


@pytest.fixture
def folder(made, tmp_path):
    shutil.copytree(made, tmp_path / "run")
    return tmp_path / "run"


def edited(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def edit_accuracy(folder):
    tree = json.loads((folder / "result.json").read_text())
    tree["accuracy"] = 0.99
    tree["rounds"][-1]["metrics"]["accuracy"] = 0.99
    (folder / "result.json").write_text(json.dumps(tree))


def edit_samples(folder):
    tree = json.loads((folder / "result.json").read_text())
    tree["uploads"][0]["samples"] = 10_000
    (folder / "result.json").write_text(json.dumps(tree))


CHANGES = {
    "result.json": edit_accuracy,
    "samples": edit_samples,
    "experiment.yaml": lambda folder: edited(folder / "experiment.yaml", "lr: 0.05", "lr: 0.5"),
    "events.jsonl": lambda folder: edited(folder / "events.jsonl", '"lambda_felt": ', '"lambda_felt": 1'),
}


READ = [(change, verb) for change in CHANGES for verb in READERS if (verb[0], change) != ("fuse", "events.jsonl")]


@pytest.mark.parametrize(("change", "verb"), READ, ids=lambda part: part if isinstance(part, str) else part[0])
def test_every_reader_notices_what_was_changed(folder, change, verb, cli):
    if verb[0] == "track":
        pytest.importorskip("tensorboard", reason="TensorBoard and MLflow: the extra track is not installed")
    CHANGES[change](folder)
    code, out, err = cli(verb[0], folder, *verb[1:])
    assert (code, out) == (2, ""), out + err
    assert "changed since it was written" in err
    assert len(err.splitlines()) == 1


def test_a_run_returns_its_result_as_it_stands_on_disk(returned):
    folder, result = returned
    assert result == RunFolder(folder).result


@pytest.mark.parametrize(("old", "new"), [('"format": 2', '"formaT": 2'), ('"format": 2', '"format": 1')])
def test_a_sealed_record_is_not_read_as_one_of_the_time_before_seals(folder, old, new, cli):
    """Found by `make fuzz`: where the word "format" was damaged, a fusion was read without its seal."""
    assert cli("fuse", folder, "--fusion", "class-expert")[0] == 0
    fused = next((folder / "fusions").iterdir())
    edited(fused, old, new)
    with pytest.raises(StoreError, match="changed since it was written"):
        read_fusion(fused)
    edited(folder / "result.json", old, new)
    with pytest.raises(StoreError, match=r"changed since it was written|has format (unknown|1)"):
        assert RunFolder(folder).result


def test_verify_says_that_all_is_as_written_and_what_is_not(folder, cli):
    assert cli("fuse", folder, "--fusion", "class-expert")[0] == 0
    code, out, _ = cli("verify", folder)
    assert code == 0
    assert out.strip().endswith("of 10 files as written")
    upload = next((folder / "uploads").rglob("*.safetensors"))
    upload.write_bytes(upload.read_bytes()[:-1] + b"x")
    next((folder / "fusions").iterdir()).write_text('{"format": 2}')
    (folder / "environment.json").unlink()
    code, out, _ = cli("verify", folder)
    assert code == 1
    states = {file.file.split("/")[0]: file.state for file in verify(RunFolder(folder)) if file.state != "as written"}
    assert states == {"environment.json": "missing", "uploads": "changed", "fusions": "changed"}
    assert out.count("changed") == 2
    assert "environment.json: missing" in out


def test_samples_come_from_the_upload_itself(folder, cli):
    """Weights n_k/n of a fusion are those that the hashed upload tells."""
    finished = RunFolder(folder)
    record = finished.result.uploads[0]
    assert finished.upload(record).samples == record.samples == finished.result.partition.sizes[record.client]


@pytest.mark.parametrize("name", [".lock", "events.jsonl", "result.json", "experiment.yaml", "state", "uploads"])
@pytest.mark.parametrize("what", ["link", "pipe"])
def test_links_and_pipes_are_rejected_and_their_targets_left_alone(folder, name, what, tmp_path, cli):
    target = tmp_path / "precious"
    if (folder / name).is_dir():
        shutil.move(folder / name, target)
    else:
        target.write_text("mine")
        (folder / name).unlink(missing_ok=True)
    before = sorted(p.name for p in target.iterdir()) if target.is_dir() else target.read_text()
    if what == "link":
        (folder / name).symlink_to(target)
    else:
        os.mkfifo(folder / name)
    for verb in (("resume",), ("fuse",), ("report",), ("doctor",), ("watch", "--once"), ("verify",), ("clean",)):
        code, _, err = cli(verb[0], folder, *verb[1:])
        assert "Traceback" not in err
        reads = name == "result.json" or (name == "experiment.yaml" and verb[0] != "clean")
        assert code in (1, 2) or not reads, (verb, err)
    after = sorted(p.name for p in target.iterdir()) if target.is_dir() else target.read_text()
    assert after == before


def test_a_folder_that_was_removed_stays_removed(tmp_path):
    """Under a run, nothing of it is made again."""
    folder = tmp_path / "run"
    (experiment,) = load(overrides=[*SMALL, "engine.workers=1", f"out={folder}"])

    def remove(event):
        if event.word == "round":
            shutil.rmtree(folder, ignore_errors=True)

    from mooring.errors import StoreError

    with pytest.raises(StoreError, match="was removed while the run was using it"):
        run_experiment(experiment, remove)
    assert not folder.exists()


def test_drafts_of_killed_runs_are_swept(folder, cli):
    for place in (folder, folder / "state", folder / "uploads/round-000"):
        (place / ".result.json.4711").write_text("half")
    (folder / "result.json").unlink()
    assert cli("resume", folder, "--quiet")[0] == 0
    assert not list(folder.rglob(".result.json.*"))


def test_swapped_uploads_are_trained_again_with_a_warning(folder, made, cli):
    a, b = sorted((folder / "uploads/round-000").iterdir())
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)
    (folder / "result.json").unlink()
    code, _, err = cli("resume", folder)
    assert code == 0
    assert "it trains again" in err
    assert (a.read_bytes(), b.read_bytes()) == (first, second)
