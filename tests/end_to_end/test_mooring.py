"""`mooring`, the default: what it looks at is decided, told and recorded, and no split changes what it says."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from onnx_files import small_encoder

from mooring import load, run_experiment
from mooring.errors import ExtraError, FusionError
from mooring.events import FeaturesChosen
from mooring.execution import fuse as fuse_again
from mooring.execution import fusion_of, prepare
from mooring.fusion import LinearHeadFusion, decode_predictor, encode_predictor, fuse
from mooring.fusion._base import Server
from mooring.models._feature_maps import DATA_FREE_MAP, ByImages, EncoderFeatures, EncoderFile, OnnxFile, ResNetFile
from mooring.record import RunFolder


@pytest.fixture(scope="module")
def stripes(tmp_path_factory):
    """240 images in colour, of three classes that differ in where they are bright."""
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    images = rng.integers(0, 120, (300, 16, 16, 3))
    for label in range(3):
        images[labels == label, 5 * label : 5 * label + 5, :, label] += 90
    path = tmp_path_factory.mktemp("data") / "stripes.npz"
    parts = {"train_images": images[:240], "test_images": images[240:]}
    targets = {"train_labels": labels[:240], "test_labels": labels[240:]}
    np.savez(path, **{name: array.astype(np.uint8) for name, array in parts.items()}, **targets)
    return path


@pytest.fixture(scope="module")
def words(stripes, tmp_path_factory):
    encoder = small_encoder(tmp_path_factory.mktemp("encoder") / "e.onnx", channels=6)
    chosen = [f"encoder={encoder}", "encoder.layers=[maps@2]", "encoder.pixels=16"]
    return ["data.source=arrays", f"data.root={stripes}", "partition.clients=4", *chosen]


def one(*words):
    (experiment,) = load(overrides=words)
    return experiment


def test_nothing_said_is_mooring_which_tells_what_it_looks_at(cli):
    code, _, err = cli("run", "engine.workers=1", "out=here")
    assert code == 0
    assert "features: whitened-filters (statistics only): images of 8 x 8 pixels are small and grey" in err
    events = [timed.event for timed in RunFolder(Path("here")).events]
    assert FeaturesChosen("whitened-filters", "statistics only", "images of 8 x 8 pixels are small and grey") in events
    result = RunFolder(Path("here")).result
    assert (result.method, result.accuracy > 0.97, result.last.metrics.calibration_error < 0.05) == (
        "mooring",
        True,
        True,
    )


def test_fuse_compares_all_heads_over_the_sums_of_a_run_and_keeps_the_comparison(cli):
    code, _, err = cli("run", "encoder.filters=16", "data.limit=400", "fusion.solver=auto", "engine.workers=1", "out=r")
    assert code == 0, err
    code, out, err = cli("fuse", "r")
    assert code == 0, err
    assert "within-class (own)" in out
    assert "solver=auto takes the first" in out
    rows = RunFolder(Path("r")).fusions
    foretold = [row for row in rows if row.expected_accuracy is not None]
    best, *others = sorted(foretold, key=lambda row: -row.expected_accuracy)
    assert len(others) == 2
    assert {row.head["kind"] for row in foretold} == {"ridge", "within-class"}
    assert {row.head["kind"] for row in rows} == {"ridge", "within-class", "discriminant", "unit-columns"}
    assert best.metrics == RunFolder(Path("r")).result.metrics  # what auto chose, by the sums alone
    code, out, err = cli("report", "r", "--out", "page.html")
    assert code == 0, err
    assert "linear-head (within-class (own))" in Path("page.html").read_text("utf-8")


def test_auto_takes_the_head_that_is_best_on_validation_images_where_the_server_has_any(cli):
    own = ["encoder.filters=16", "data.limit=400", "data.validation=0.3", "fusion.solver=auto", "engine.workers=1"]
    code, _, err = cli("run", *own, "out=r")
    assert code == 0, err
    code, out, err = cli("fuse", "r")
    assert code == 0, err
    assert "solver=auto takes the first that is best" in out
    rows = RunFolder(Path("r")).fusions
    run = RunFolder(Path("r")).result.rounds[-1]
    assert run.validation_accuracy == max(row.validation_accuracy for row in rows)
    assert all(row.validation_accuracy is not None for row in rows)


def test_a_run_of_trained_and_sums_says_what_training_added(cli):
    code, out, err = cli("run", "method=trained-and-sums", "data.limit=200", "rounds=1", "engine.workers=1", "out=r")
    assert code == 0, err
    result, rule = RunFolder(Path("r")).result, fusion_of(Path("r"))
    gain = result.last.training_gain
    points = 100 * (result.accuracy - gain.sums)
    assert f"training {'added' if points >= 0 else 'cost'} {abs(points):.1f} points" in out
    sums, trained = fuse_again("r", [LinearHeadFusion(rule.map), rule.trained])
    assert (sums.accuracy, trained.accuracy) == (gain.sums, gain.trained)
    assert sums.accuracy > 0.8


def test_colour_or_many_pixels_ask_for_an_encoder():
    assert one("data=cifar10").method.fusion.map == EncoderFeatures(views="mirrored")
    assert one("data=svhn").method.fusion.map == EncoderFeatures()  # a mirrored digit is another sign
    assert one("data=svhn").why == "images of 32 x 32 pixels are in colour"
    assert one("data=cifar10").method.track == "frozen encoder"
    assert one("data=fashion_mnist").method.fusion.map == replace(DATA_FREE_MAP, views="mirrored")
    assert one("data=digits").method.fusion.map == replace(DATA_FREE_MAP, views="one")
    assert one("data=fashion_mnist").method.track == "statistics only"
    grey = one("data.source=image_folder", "data.root=x", "data.channels=1", "data.size=64")
    assert (grey.method.fusion.map, grey.why) == (
        EncoderFeatures(views="mirrored"),
        "images of 64 x 64 pixels are large",
    )
    assert one("data.source=arrays", "data.root=x.npz").method.fusion.map == ByImages()  # decided by the arrays


def test_encoder_decides(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert one("data=cifar10", "encoder=none").method.fusion.map == replace(DATA_FREE_MAP, views="mirrored")
    assert one("data=cifar10", "encoder=none", "encoder.views=one").method.fusion.map.views == "one"
    assert one("encoder=efficientnet-lite1").method.fusion.map == EncoderFeatures("efficientnet-lite1")
    assert one("data=cifar10", "encoder.pixels=64").method.fusion.map == EncoderFeatures(pixels=64, views="mirrored")
    assert one("method=afl", "encoder=e.onnx").method.fusion.map == OnnxFile(str(tmp_path / "e.onnx"))
    assert one("encoder=e.safetensors").method.fusion.map == EncoderFile(str(tmp_path / "e.safetensors"))
    from safetensors.torch import save_file

    names = ("conv1.weight", "bn1.weight", "layer1.0.conv1.weight", "layer4.0.conv1.weight")
    save_file({name: torch.zeros(1) for name in names}, "r.safetensors")
    assert one("encoder=r.safetensors").method.fusion.map == ResNetFile(str(tmp_path / "r.safetensors"))
    assert one("encoder=efficientnet-lite0").why == "it was asked for"
    assert one("data=cifar10", "encoder=efficientnet-lite2").label == "mooring"


def test_what_was_decided_stands_in_the_record(monkeypatch):
    experiment = one("data=cifar10")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    from mooring.config import parse

    assert parse(experiment.tree()) == [experiment]
    assert parse(experiment.tree())[0].why == experiment.why


def test_without_the_extra_the_choice_is_another_and_says_so(monkeypatch, cli, stripes):
    with_extra = one("data=cifar10")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    experiment = one("data=cifar10")
    assert experiment.method.fusion.map == replace(DATA_FREE_MAP, views="mirrored")
    assert experiment.why.startswith("onnxruntime is not installed; pip install 'mooring[encoder]'")
    assert experiment.label == "mooring + fusion.map=whitened-filters"
    assert experiment.fingerprint() != with_extra.fingerprint()
    for asked in ("encoder=efficientnet-lite0", "encoder=efficientnet-lite2"):
        code, _, err = cli("run", "data.source=arrays", f"data.root={stripes}", asked, "out=here")
        assert code == 2
        assert f"error: {asked}: onnxruntime is not installed; pip install 'mooring[encoder]'\n" in err
    with pytest.raises(ExtraError):
        EncoderFeatures().size(None)


def test_workers_change_no_byte_and_the_split_no_prediction(words, tmp_path):
    splits = {"skewed": ["partition.alpha=0.05"], "even": ["partition.kind=iid"]}
    results = {
        name: run_experiment(one(*words, *splits[name], "engine.workers=1", f"out={tmp_path / name}"))
        for name in splits
    }
    again = run_experiment(one(*words, *splits["skewed"], "engine.workers=2", f"out={tmp_path / 'two'}"))
    skewed, even = results["skewed"], results["even"]
    assert [upload.sha256 for upload in again.uploads] == [upload.sha256 for upload in skewed.uploads]
    assert skewed.last.metrics.confusion == even.last.metrics.confusion
    assert skewed.accuracy > 0.9


def test_an_upload_over_another_encoder_is_rejected(words, stripes, tmp_path):
    _, other, *rest = [*words[:3], f"encoder={small_encoder(tmp_path / 'o.onnx', channels=6, seed=1)}", *words[4:]]
    ours = one(*words, "engine.workers=1", f"out={tmp_path / 'a'}")
    theirs = one("data.source=arrays", other, *rest, "engine.workers=1", f"out={tmp_path / 'b'}")
    run_experiment(theirs)
    folder = RunFolder(tmp_path / "b")
    uploads = [folder.upload(record) for record in folder.result.uploads]
    _, job = prepare(ours)
    with pytest.raises(FusionError, match=r"client 0: answers job \w+, not \w+; ask the client to train for this job"):
        fuse(ours.method.fusion, uploads, Server(job.blueprint), job.sha256)
    with pytest.raises(FusionError, match=r"client 0: tensor 'moments-\w+.counts' is missing"):
        fuse(ours.method.fusion, uploads, Server(job.blueprint))


def test_a_saved_predictor_carries_its_file(words, tmp_path):
    experiment = one(*words, "engine.workers=1", f"out={tmp_path / 'a'}")
    result = run_experiment(experiment)
    federation, job = prepare(experiment)
    uploads = [RunFolder(tmp_path / "a").upload(record) for record in result.uploads]
    path = tmp_path / "e.onnx"
    shutil.copy(experiment.method.fusion.map.path, path)
    fusion = LinearHeadFusion(OnnxFile(str(path), 16, ("maps@2",)))
    predictor = fuse(fusion, uploads, Server(job.blueprint))
    data = encode_predictor(predictor)
    scores = predictor(federation.train.images)
    path.unlink()
    loaded = decode_predictor(data)
    assert torch.equal(loaded.predictor(federation.train.images), scores)
    assert json.dumps(loaded.predictor.tree()).count("sha256:") == 1


def test_an_encoder_that_turns_to_rubbish_on_real_images_stops_the_run_in_one_line(stripes, cli, tmp_path):
    """Logarithms of pixels: fine for grey, not finite for black."""
    from onnx_files import averages, onnx, written

    path = written(tmp_path / "log.onnx", [onnx.helper.make_node("Log", ["x"], ["y"]), *averages("y")])
    words = ["encoder.normalise=none", "encoder.pixels=16", "engine.workers=1", "out=here"]
    code, _, err = cli("run", "data.source=arrays", f"data.root={stripes}", f"encoder={path}", *words)
    assert code == 2
    assert "error: encoder: returns values that are not finite; use another encoder\n" in err
