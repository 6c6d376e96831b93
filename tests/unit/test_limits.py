"""A model that knows its limits: unusual images, abstention, thresholds of a site, and what they hold for."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from models import model, predictor_of, three_digits, write_held_out
from PIL import Image

from mooring.errors import FederationError, ModelError
from mooring.evaluate import auc
from mooring.federation import load_model, predict, save_model
from mooring.federation._calibration import Targets, abstention, calibrated, lower_threshold, upper_threshold
from mooring.federation._look import look, unusualness
from mooring.fusion import ClassExpert, LinearHeadFusion, Typical, typical_of
from mooring.models._feature_maps import Pixels


@pytest.fixture(scope="module")
def known():
    """A model with what its sums tell of a typical image."""
    made = model()
    assert made.typical is not None
    return made


def write_noise(folder, images=20):
    folder.mkdir()
    rng = np.random.default_rng(0)
    for at in range(images):
        Image.fromarray(rng.integers(0, 256, (8, 8), dtype=np.uint8)).save(folder / f"{at}.png")
    return folder


def how(model, images):
    found = look(model, images)
    return torch.tensor([unusualness(s, d) for s, d in found.rows()])


def test_a_typical_training_image_has_distance_one_by_the_sums_alone(known):
    images = torch.cat([three_digits(0, 40).images, three_digits(40, 40).images])
    own = look(known, images).distances.square()
    assert float(own.amin(1).mean()) == pytest.approx(1, abs=0.25)


def test_noise_is_farther_than_images_that_were_left_out(known):
    noise = torch.randint(0, 256, (60, 1, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    held = three_digits(90, 20).images
    values = torch.cat([how(known, noise), how(known, held)])
    assert auc(values, torch.arange(len(values)) < len(noise)) > 0.95


def test_a_threshold_keeps_its_rate_whatever_the_distribution():
    rng = torch.Generator().manual_seed(0)
    rates = []
    for _ in range(300):
        values, fresh = torch.randn(2, 200, generator=rng, dtype=torch.float64).exp().square()
        rates.append(float((fresh > upper_threshold(values, 0.05)).double().mean()))
    assert np.mean(rates) == pytest.approx(0.05, abs=0.006)
    assert upper_threshold(torch.arange(18.0), 0.05) is None
    assert upper_threshold(torch.arange(19.0), 0.05) == 18
    assert lower_threshold(torch.arange(19.0), 0.05) == 0


def test_errors_of_the_answers_stay_below_the_rate_with_the_promised_confidence():
    rng = torch.Generator().manual_seed(0)
    broken = 0
    for _ in range(200):
        p = torch.rand(800, generator=rng)
        hit = torch.rand(800, generator=rng) < 0.5 + p / 2
        threshold, coverage = abstention(p[:400], hit[:400], 0.2)
        if threshold is not None:
            assert coverage == pytest.approx(float((p[:400] >= threshold).double().mean()))
            broken += (1 - threshold) / 4 > 0.2  # the true error above the threshold
    assert broken / 200 <= 0.05
    assert abstention(torch.ones(5), torch.ones(5, dtype=torch.bool), 0.05) == (None, 0.0)


def test_calibrate_binds_thresholds_to_the_model_and_names_their_data(cli, known, tmp_path):
    path = tmp_path / "m.mooring"
    save_model(path, known.predictor, known.provenance)
    write_held_out(tmp_path / "held")
    write_noise(tmp_path / "noise")
    words = ["calibrate", "m.mooring", "held", "--error", "0.3", "--sensitivity", "0.9", "--positive", "zero"]
    code, out, _ = cli(*words)
    assert code == 0
    assert "calibrated on 30 images of held, and valid for images like these" in out
    loaded = load_model(path)
    assert (loaded.confidence, loaded.calibration.targets.positive) == ("probability", "zero")
    code, out, err = cli("predict", "m.mooring", "noise", "--json")
    told = json.loads(out)
    assert told["limits"] == [loaded.calibration.words]
    assert sum(row["unusual"] for row in told["predictions"]) >= 18
    assert set(told["predictions"][0]["nearest"]) == {"one", "seven", "zero"}
    code, out, err = cli("predict", "m.mooring", "noise", "--csv", "out.csv")
    assert "unusual (" in out
    assert loaded.calibration.words in out
    code, out, _ = cli("evaluate", "m.mooring", "--data", "held", "--json")
    within = json.loads(out)["within_limits"]
    assert "these figures are too good" in cli("evaluate", "m.mooring", "--data", "held")[1]
    assert within["unusual"]["share"] <= 0.05
    assert within["sensitivity"]["share"] >= 0.9
    assert within["answered"]["n"] == 30
    save_model(path, known.predictor, replace(known.provenance, method="another"))
    code, _, err = cli("predict", "m.mooring", "noise")
    assert (code, "is of another model" in err) == (2, True)


def test_without_statistics_or_thresholds_the_model_says_so(cli, known, tmp_path):
    save_model(tmp_path / "old.mooring", predictor_of(ClassExpert()), known.provenance)
    save_model(tmp_path / "new.mooring", known.predictor, known.provenance)
    write_noise(tmp_path / "noise", 2)
    assert "holds no statistics to recognise unusual images" in cli("predict", "old.mooring", "noise")[1]
    assert "mooring calibrate" in cli("predict", "new.mooring", "noise")[1]
    (row, *_) = predict(load_model(tmp_path / "old.mooring"), [tmp_path / "noise"]).rows
    assert (row.nearest, row.unusual, row.abstained) == ((), None, False)


def test_the_same_sums_in_any_order_give_the_same_statistics():
    from models import uploads_of

    rule = LinearHeadFusion(Pixels())
    uploads = uploads_of(rule)
    one, other = (typical_of(rule.needs, own) for own in (uploads, uploads[::-1]))
    assert torch.allclose(one.by_class(torch.zeros(2, 64)), other.by_class(torch.zeros(2, 64)))
    tensors = one.tensors()
    with pytest.raises(ModelError, match="does not fit together"):
        Typical.restored(tensors | {"typical.means": tensors["typical.means"][:, :1]}, 3)
    assert Typical.restored({}, 3) is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--false-alarm", "2"), "must be"),
        (("--positive", "zero"), "needs a sensitivity"),
        (("--positive", "ten", "--sensitivity", "0.9"), "ten"),
        (("--positive", "zero", "--sensitivity", "0.99"), "needs at least 99"),
        (("--error", "0.01"), "add images, or ask for a higher --error"),
    ],
)
def test_a_mistake_in_calibrate_is_one_line(cli, known, tmp_path, words, message):
    save_model(tmp_path / "m.mooring", known.predictor, known.provenance)
    write_held_out(tmp_path / "held", each=5)
    code, _, err = cli("calibrate", "m.mooring", "held", *words)
    assert (code, len(err.splitlines()) <= 2, message in err) == (2, True, True)


def test_a_forged_calibration_is_rejected(known, tmp_path):
    from mooring.federation._calibration import calibration_file, encode_calibration

    save_model(tmp_path / "m.mooring", known.predictor, known.provenance)
    sha256 = load_model(tmp_path / "m.mooring").sha256
    scores, labels = torch.eye(3).repeat(8, 1), torch.arange(3).repeat(8)
    found = calibrated(sha256, "held", known.classes, scores, labels, None, Targets())
    for wrong in (
        replace(found, folder="a\nb"),
        replace(found, images_per_class=(1,)),
        replace(found, thresholds=(2.0,)),
    ):
        calibration_file(tmp_path / "m.mooring").write_bytes(encode_calibration(wrong, None))
        with pytest.raises(FederationError, match="no calibration has"):
            load_model(tmp_path / "m.mooring")


def test_a_map_shows_the_part_that_decides(known):
    """Of a model whose classes differ in the left half alone, no pixel of the right half supports a class."""
    from mooring.federation import explain

    left = torch.zeros(8, 8, dtype=torch.bool)
    left[:, :4] = True

    def only_left(shard):
        return replace(shard, images=torch.where(left, shard.images, 0))

    shards = [only_left(three_digits()), only_left(three_digits(30))]
    judge_of_left = replace(known, predictor=predictor_of(LinearHeadFusion(Pixels()), shards=shards))
    image = only_left(three_digits(70, 1)).images[0]
    found = explain(judge_of_left, image, Path("zero.png"))
    inner = found.support[:, 5:]  # windows that cover nothing of the left half
    assert float(found.support[left].abs().amax()) > 10 * float(inner.abs().amax())
    assert found.picture().shape == (3, 192, 384)


def test_explanations_are_a_page_and_a_picture_for_each_image(cli, known, tmp_path):
    save_model(tmp_path / "m.mooring", known.predictor, known.provenance)
    held = write_held_out(tmp_path / "held")
    code, _, err = cli("evaluate", "m.mooring", "--data", "held", "--explain", "why")
    assert (code, "images explained; it holds images, keep it at the site" in err) == (0, True)
    page = (tmp_path / "why/index.html").read_text("utf-8")
    pictures = sorted((tmp_path / "why").glob("*.png"))
    assert len(pictures) == page.count("data:image/png;base64,") >= 6
    assert "Right predictions" in page
    assert str(tmp_path) not in page
    files = [str(path.relative_to(tmp_path)) for path in sorted(held.rglob("*.png"))[:2]]
    assert cli("predict", "m.mooring", *files, "--explain", "two")[0] == 0
    assert [path.name[:4] for path in sorted((tmp_path / "two").glob("*.png"))] == ["001-", "002-"]
    with Image.open(tmp_path / "two" / sorted(path.name for path in (tmp_path / "two").glob("*.png"))[0]) as picture:
        assert picture.size == (384, 192)
