"""What `mooring fuse` reads: uploads and test images, wherever they lie now."""

import json
import shutil

import pytest
from PIL import Image

from mooring import fuse, load_fusions
from mooring.data._digits import Digits
from mooring.errors import FusionError

QUICK = ("method=v7", "training.rounds=1", "training.local_epochs=1", "engine.workers=1", "partition.clients=2")
SMALL = ("data.source=image_folder", "data.size=8", "data.channels=1")
UPLOADED, NEVER_UPLOADED = "feature-ensemble", "nearest-prototype"


def lay(root, images, count):
    """root/<class>/<number>.png"""
    for i in range(count):
        folder = root / images.classes[images.labels[i]]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(images.images[i, 0].numpy()).save(folder / f"{i}.png")


@pytest.fixture
def trained(cli, tmp_path, monkeypatch):
    """A run on images/train and images/test, its data given by a relative path; we are in another folder now."""
    lay(tmp_path / "images/train", Digits().train(), 120)
    lay(tmp_path / "images/test", Digits().test(), 60)
    code, _, err = cli("run", *QUICK, *SMALL, "data.root=images", "out=run", "--quiet")
    assert code == 0, err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return tmp_path / "run"


def fused(cli, *words):
    code, out, err = cli("fuse", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["metrics"]


def rejected(cli, *words):
    code, out, err = cli("fuse", *words)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    return err


def recorded(run):
    return json.loads((run / "result.json").read_text())["rounds"][-1]["metrics"]


def test_the_training_images_may_be_gone(cli, trained, tmp_path):
    shutil.rmtree(tmp_path / "images/train")
    assert fused(cli, trained, "--fusion", UPLOADED) == recorded(trained)


def test_a_part_that_was_not_uploaded_is_named_when_the_training_images_are_gone(cli, trained, tmp_path):
    completed = fused(cli, trained, "--fusion", NEVER_UPLOADED)
    assert completed["accuracy"] != recorded(trained)["accuracy"]
    shutil.rmtree(tmp_path / "images/train")
    err = rejected(cli, trained, "--fusion", NEVER_UPLOADED)
    assert err.startswith(
        "error: client 0 did not upload class-means, label-counts, and the training images are gone: "
    )
    with pytest.raises(FusionError, match="did not upload class-means"):  # so `--fusion all` goes on without the rule
        list(fuse(trained, load_fusions(NEVER_UPLOADED)))


def test_images_that_have_moved_are_found_where_they_are_said_to_be(cli, trained, tmp_path):
    (tmp_path / "images").rename(tmp_path / "moved")
    assert str(tmp_path / "images") in rejected(cli, trained, "--fusion", UPLOADED)
    assert fused(cli, trained, "data.root=../moved", "--fusion", UPLOADED) == recorded(trained)
    fused(cli, trained, "data.root=../moved", "--fusion", NEVER_UPLOADED)


def test_other_images_are_not_taken_for_those_of_the_run(cli, trained, tmp_path):
    next((tmp_path / "images/train").rglob("*.png")).unlink()
    assert fused(cli, trained, "--fusion", UPLOADED) == recorded(trained)
    assert "its data or partition has changed since the run, and client 0 did not upload class-means" in rejected(
        cli, trained, "--fusion", NEVER_UPLOADED
    )
    next((tmp_path / "images/test").rglob("*.png")).unlink()
    assert "was evaluated on 60 test images, and there are 59 now" in rejected(cli, trained, "--fusion", UPLOADED)
