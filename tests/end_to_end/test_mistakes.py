"""What a user can do wrong: one clear line, exit code 2, no traceback, nothing half-written."""

import os
import pickle

import numpy as np
import pytest

from mooring.store import locked


def refused(cli, *arguments):
    code, out, err = cli(*arguments)
    assert code == 2, (out, err)
    assert "Traceback" not in err
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("partition.alhpa=0.1", "did you mean 'alpha'?"),
        ("partition.alpha=-1", "partition.alpha=-1: must be greater than 0"),
        ("partition.alpha=abc", "partition.alpha=abc: must be a valid number"),
        ("partition.clients=0", "partition.clients=0: must be greater than 0"),
        ("partition.clients=2000", "more clients than images: clients = 2000, images = 1437"),
        ("partition.min_size=400", "min_size = 400 for 5 clients needs 2000 images"),
        ("partition.kind=sites", "use the image_folder source with one folder per site"),
        ("partition.kind=file", "partition.path: is required and missing"),
        ("method=v99", "method=v99: unknown"),
        ("training.rounds=0", "training.rounds=0: must be greater than 0"),
        ("training.lr=0", "training.lr=0: must be greater than 0"),
        ("training.batch_size=big", "training.batch_size=big: must be a valid integer"),
        ("model.width=0.2", "a simplex of 10 anchors needs 9 feature dimensions, the model has 6; raise model.width"),
        ("data.source=cifar10", "data_batch_1"),
        ("data.limit=5000", "data.limit=5000 is more than the 1437 training images"),
        ("nowhere.yaml", "nowhere.yaml: cannot be read"),
        ("seed=1.5", "seed=1.5: must be a valid integer"),
        ("fusion=mean", "method.fusion.kind=mean: unknown"),
    ],
)
def test_a_bad_setting_is_refused(cli, tmp_path, monkeypatch, override, told):
    monkeypatch.setenv("MOORING_DATA", str(tmp_path / "no-data"))
    err = refused(cli, "run", override)
    assert told in err
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "runs").exists()


def test_a_missing_folder_of_images_is_named(cli):
    assert "missing-folder" in refused(cli, "run", "data.source=image_folder", "data.root=missing-folder")


@pytest.mark.parametrize("damage", ["truncated", "evil"])
def test_a_bad_pickle_is_refused_and_runs_nothing(cli, tmp_path, damage):
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
    err = refused(cli, "run", "data.source=cifar10", f"data.root={tmp_path}")
    assert "data_batch_3" in err
    assert not (tmp_path / "owned").exists()
    assert not (tmp_path / "runs").exists()


def test_images_that_are_not_numbers_are_refused(cli, tmp_path):
    images = np.zeros((4, 8, 8), np.float32)
    images[2, 3, 3] = np.nan
    labels = np.array([0, 1, 0, 1])
    np.savez(tmp_path / "a.npz", train_images=images, train_labels=labels, test_images=images * 0, test_labels=labels)
    assert "train_images" in refused(cli, "run", "data.source=arrays", "data.root=a.npz")


def test_a_file_where_the_folder_should_be_is_refused(cli, tmp_path):
    (tmp_path / "taken").write_text("mine")
    assert "out=taken: cannot be written" in refused(cli, "run", "out=taken")
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_unwritable_folder_is_refused(cli):
    """/proc takes no folders from anybody, root included."""
    assert "out=/proc/run: cannot be written" in refused(cli, "run", "out=/proc/run")


def test_two_runs_in_one_folder_are_refused(cli, tmp_path):
    with locked(tmp_path / "busy"):
        assert "another run is using this folder" in refused(cli, "run", "out=busy")


def test_another_experiments_result_is_not_overwritten(cli, tmp_path):
    short = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1", "out=here", "method=v4")
    assert cli("run", *short)[0] == 0
    before = (tmp_path / "here/result.json").read_bytes()
    assert "holds the result of another experiment (v4" in refused(cli, "run", *short, "seed=2")
    assert (tmp_path / "here/result.json").read_bytes() == before


def test_an_unknown_verb_and_an_unknown_option_are_refused(cli):
    assert cli("rnu")[0] == 2
    assert cli("run", "--agian")[0] == 2


def test_an_unknown_method_to_show_is_refused(cli):
    assert "method=v99: unknown" in refused(cli, "show", "v99")
