"""What a model says of files, and how good it is: every kind of picture, every count, every mistake in one line."""

import csv
import json
from dataclasses import replace
from math import inf

import numpy as np
import pytest
import torch
from medical_files import write_tiff
from models import BLUEPRINT, TOLD, model, predictor_of, three_digits, write_held_out
from PIL import Image
from sklearn.metrics import roc_auc_score

from mooring import load
from mooring.config import as_yaml
from mooring.errors import ConfigError, DataError, MooringError
from mooring.evaluate import auc
from mooring.federation._assessment import assess, assessment_tree
from mooring.federation._model_file import Provenance, save_model
from mooring.federation._predict import Prediction, Unreadable, predict
from mooring.intervals import Rate
from mooring.wording import percent, percent_range


@pytest.fixture(scope="module")
def small():
    return model()


@pytest.fixture
def saved(small, tmp_path):
    save_model(tmp_path / "m.mooring", small.predictor, small.provenance)
    return "m.mooring"


@pytest.fixture
def pictures(tmp_path):
    """One digit in every kind of file."""
    grey = Image.fromarray(three_digits(80, 1).images[0, 0].numpy())
    folder = tmp_path / "in" / "deep"
    folder.mkdir(parents=True)
    grey.save(folder / "a.png")
    grey.convert("RGB").save(folder / "b.bmp")
    grey.resize((80, 80), Image.Resampling.NEAREST).save(folder / "c.webp", lossless=True)
    write_tiff(folder / "d.tif", np.asarray(grey).astype(np.uint16) * 257, 16, 1)
    grey.save(folder / "e.gif", save_all=True, append_images=[Image.new("L", grey.size)])
    turned = grey.rotate(90, expand=True)
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 270 degrees to see it upright
    turned.save(folder / "f.png", exif=exif)
    (folder / "g.jpg").write_bytes(b"no picture")
    (folder / "notes.txt").write_text("none either")
    return tmp_path / "in"


def test_any_picture_is_read_as_the_training_images_were(small, pictures):
    found = predict(small, [pictures])
    wanted = small.predictor(three_digits(80, 1).images[:1])
    share = float(wanted.double().softmax(1).amax())
    by_name = {row.file.name: row for row in found.rows}
    for name in ("a.png", "b.bmp", "d.tif", "e.gif", "f.png"):
        assert (by_name[name].first.label, by_name[name].first.confidence) == ("one", pytest.approx(share)), name
    assert by_name["c.webp"].first.label == "one"
    assert sum(guess.confidence for guess in by_name["a.png"].guesses) == pytest.approx(1)
    assert by_name["g.jpg"] == Unreadable(pictures / "deep/g.jpg", "cannot be read as an image")
    assert found.ignored == {".txt": 1}


def test_many_files_are_scored_as_one_by_one(small, tmp_path):
    held = write_held_out(tmp_path / "held", each=25)
    files = sorted(held.rglob("*.png"))
    together = predict(small, files)
    assert [row.file for row in together.rows] == files
    for row, file in zip(together.rows[60:70], files[60:70], strict=True):
        (alone,) = predict(small, [file]).rows
        assert isinstance(row, Prediction)
        assert row.first.confidence == pytest.approx(alone.first.confidence, abs=1e-6)


def test_the_levels_and_the_fit_of_training_are_used(small, tmp_path):
    from dataclasses import replace

    grey = three_digits(80, 1).images[0, 0].numpy()
    path = write_tiff(tmp_path / "x.tif", grey.astype(np.uint16) * 16, 16, 1)  # 12 bits in 16
    (dark,), (right,) = (predict(replace(small, provenance=told), [path]).rows for told in (Provenance(), TOLD))
    assert dark.first.confidence != pytest.approx(right.first.confidence)
    assert right.first.label == "one"


def test_the_command_names_what_it_cannot_read_and_ends_with_3(cli, saved, pictures, tmp_path):
    code, out, err = cli("predict", saved, "in", "--csv", "out.csv")
    assert code == 3
    assert "probability" in out
    assert "1 of 7 files cannot be read:\n  in/deep/g.jpg: cannot be read as an image" in err
    assert "not looked at in folders: 1 .txt" in err
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text("utf-8").splitlines()))
    assert [row["class"] for row in rows].count("one") == 6
    assert rows[-1]["problem"] == "cannot be read as an image"
    usual = ["file", "class", "probability", "second class", "second probability", "problem"]
    each = [name for name in rows[0] if name.startswith("probability of ")]
    limits = ["unusualness", "unusual", "abstains", "possible classes"]
    assert list(rows[0]) == [*usual, *each, *limits]
    assert sum(float(rows[0][name]) for name in each) == pytest.approx(1, abs=1e-5)
    assert rows[0]["probability of one"] == rows[0]["probability"]
    code, out, err = cli("predict", saved, "in/deep/a.png", "--json")
    told = json.loads(out)
    assert (code, err, told["confidence"]) == (0, "", "probability")
    assert told["predictions"][0]["class"] == "one"
    assert sum(told["predictions"][0]["all"].values()) == pytest.approx(1)


def test_names_steer_neither_spreadsheet_nor_terminal(cli, saved, pictures, tmp_path):
    (pictures / "deep/a.png").rename(tmp_path / "=1+1.png")
    (pictures / "deep/b.bmp").rename(tmp_path / "x\x1b[31m.bmp")
    code, out, _ = cli("predict", saved, "=1+1.png", "x\x1b[31m.bmp", "--csv", "out.csv")
    assert code == 0
    assert "\x1b" not in out
    assert (tmp_path / "out.csv").read_text().splitlines()[1].startswith("'=1+1.png")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("predict", "m.mooring", "nowhere.png"), "nowhere.png: is not there"),
        (("predict", "m.mooring", "empty"), "empty: no images"),
        (("predict", "gone.mooring", "empty"), "gone.mooring: cannot be read"),
        (("predict", "empty", "empty"), "cannot be read"),
        (("evaluate", "m.mooring", "--data", "empty"), "holds no images in folders named by class"),
        (("evaluate", "m.mooring", "--data", "gone"), "cannot be listed"),
    ],
)
def test_a_mistake_is_one_line(cli, saved, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    code, _, err = cli(*arguments)
    assert code == 2
    assert message in err


def test_evaluate_says_it_in_words(cli, saved, tmp_path):
    write_held_out(tmp_path / "held")
    (tmp_path / "held/north/zero/broken.png").write_bytes(b"")
    code, out, err = cli("evaluate", saved, "--data", "held", "--positive", "zero", "--json")
    told = json.loads(out)
    assert code == 3
    assert told["images"] == 30
    assert told["words"].startswith("30 images of held, ")
    assert (told["trained_on"], "only if no site trained on these" in told["for_new_images"]) == (0, True)
    assert [row["site"] for row in told["sites"]] == ["north", "south"]
    assert told["positive"]["class"] == "zero"
    assert [row["problem"] for row in told["unreadable"]] == ["cannot be read as an image"]
    code, out, err = cli("evaluate", saved, "--data", "held", "--positive", "zero")
    assert told["words"] in out
    assert told["for_new_images"] in out
    assert "held-out" not in out
    assert "always saying 'one' would be right for 33.3 %" in out
    assert "sensitivity" in out
    assert "1 of 31 files cannot be read" in err


def test_images_that_the_run_trained_on_are_counted_where_they_are_known(cli, small, tmp_path):
    held = write_held_out(tmp_path / "everybody", each=10)
    words = ["data.source=image_folder", f"data.root={held}", "data.size=8", "data.channels=1", "encoder=none"]
    [experiment] = load(overrides=[*words, "data.held_out=0.2"])
    (tmp_path / "run").mkdir()
    (tmp_path / "run/experiment.yaml").write_text(as_yaml(experiment.tree()))
    of_run = Provenance(origin="simulation", fingerprint=experiment.fingerprint())
    save_model(tmp_path / "run/model.mooring", small.predictor, of_run)
    trained = {path.resolve() for path in experiment.data.training_files()}
    told = json.loads(cli("evaluate", "run", "--data", "everybody", "--json")[1])
    assert told["trained_on"] == len(trained) == 48
    assert told["for_new_images"].startswith("48 of the 60 images are among those that its run trains on")
    one_site = json.loads(cli("evaluate", "run", "--data", "everybody/north", "--json")[1])
    assert one_site["trained_on"] == sum(path.is_relative_to(held / "north") for path in trained) == 24
    save_model(tmp_path / "run/model.mooring", small.predictor, replace(of_run, fingerprint="ab" * 32))
    assert json.loads(cli("evaluate", "run", "--data", "everybody", "--json")[1])["trained_on"] == 0


def test_counts_are_those_of_the_images(small, tmp_path):
    write_held_out(tmp_path / "held", each=10)
    found = assess(small, tmp_path / "held", "seven")
    shard = three_digits(80, 20)
    scores = small.predictor(shard.images)
    hit = scores.argmax(1) == shard.labels
    assert (found.right.right, found.right.n) == (int(hit.sum()), 60)
    assert sum(map(sum, found.confusion)) == 60
    assert sum(row.right.n for row in found.sites) == 60
    seven = shard.labels == 1
    assert found.positive.sensitivity == Rate(int((hit & seven).sum()), 20)
    claimed = scores.argmax(1) == 1
    assert found.positive.specificity == Rate(int((~claimed & ~seven).sum()), 40)
    assert found.positive.auc == pytest.approx(roc_auc_score(seven, scores.double().softmax(1)[:, 1]), abs=1e-6)
    assert 0 <= found.calibration_error <= 1
    assert json.dumps(assessment_tree(found))


def test_other_folders_and_other_classes_are_rejected_by_name(small, tmp_path):
    held = write_held_out(tmp_path / "held")
    (held / "north/zero").rename(held / "north/zeros")
    with pytest.raises(DataError, match="'zeros' is neither a class of the model nor a site; did you mean 'zero'"):
        assess(small, held)
    with pytest.raises(ConfigError, match="--positive zer: is not a class of the model; did you mean 'zero'"):
        assess(small, held, "zer")


def test_classes_without_sites_are_enough(small, tmp_path):
    held = write_held_out(tmp_path / "held") / "north"
    found = assess(small, held)
    assert (found.right.n, found.sites, found.positive) == (15, (), None)


@pytest.mark.parametrize(
    ("right", "n", "low", "high", "words"),
    [
        (38, 45, 0.7122, 0.9225, "71.2-92.3 %"),
        (0, 10, 0.0, 0.2775, "0.0-27.8 %"),
        (10, 10, 0.7225, 1.0, "72.2-100.0 %"),
        (1, 2, 0.0945, 0.9055, "9.5-90.5 %"),
    ],
)
def test_intervals_are_those_of_wilson(right, n, low, high, words):
    rate = Rate(right, n)
    assert rate.interval == pytest.approx((low, high), abs=1e-4)
    assert percent_range(rate.interval) == words
    assert rate.interval[0] <= rate.share <= rate.interval[1]


def test_nothing_counted_is_not_zero():
    assert (Rate(0, 0).share, Rate(0, 0).interval, percent(Rate(0, 0).share)) == (None, None, "-")


def test_the_area_under_the_curve_counts_ties_by_half():
    values, true = torch.tensor([1.0, 2, 2, 3, 3, inf]), torch.tensor([False, False, True, True, False, True])
    assert auc(values, true) == pytest.approx(roc_auc_score(true, values.clamp(max=9)))
    assert auc(values, torch.ones(6, dtype=torch.bool)) is None


def test_a_model_of_other_images_says_how_it_is_used(small):
    from dataclasses import replace

    wide = replace(BLUEPRINT, shape=(1, 8, 10))
    shard = three_digits()
    wider = replace(shard, images=torch.nn.functional.pad(shard.images, (1, 1)))
    predictor = predictor_of(blueprint=wide, shards=[wider])
    with pytest.raises(MooringError, match=r"takes images of 1 x 8 x 10, and files become squares"):
        predict(replace(small, predictor=predictor), [__import__("pathlib").Path(__file__)])
