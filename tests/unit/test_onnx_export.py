"""A model as ONNX gives the scores of the model, to 1e-4, for any number of images."""

import json
from dataclasses import replace

import pytest
import torch
from models import BLUEPRINT, model, predictor_of, three_digits
from onnx_files import onnx, small_encoder

from mooring.errors import ModelError
from mooring.federation._model_file import ModelFile, Provenance, load_model, save_model
from mooring.federation._onnx_export import export_onnx, onnx_scores
from mooring.fusion import (
    Calibrated,
    ClassExpert,
    Familiarity,
    GaussianHead,
    Iffi,
    LinearHeadFusion,
    NearestPrototype,
    OutputEnsemble,
    ParameterAverage,
    StandardisedSum,
    TrainedAndSums,
)
from mooring.fusion._ensemble import Ensemble
from mooring.models._feature_maps import OnnxFile, Pixels, RandomEncoder, WhitenedFilters

RULES = {
    "network": ParameterAverage(),
    "class experts": ClassExpert(),
    "outputs": OutputEnsemble(),
    "iffi": Iffi(),
    "nearest prototype": NearestPrototype(),
    "familiarity": Familiarity(),
    "standardised": StandardisedSum(),
    "calibrated": Calibrated(OutputEnsemble()),
    "trained and sums": TrainedAndSums(WhitenedFilters(channels=16, filters=32)),
    "filters": LinearHeadFusion(),
    "whitened filters": LinearHeadFusion(WhitenedFilters(channels=16, filters=32, views="mirrored")),
    "own covariances": GaussianHead(Pixels(), "own"),
    "diagonal": GaussianHead(RandomEncoder(), "diagonal"),
}


def differs(model, path, images):
    with torch.inference_mode():
        wanted = model.predictor(images)
    return float(((onnx_scores(path.read_bytes(), images) - wanted).abs() / (1 + wanted.abs())).max())


@pytest.mark.parametrize("name", RULES)
def test_scores_are_those_of_the_model(name, tmp_path):
    rule = RULES[name]
    made = ModelFile(predictor_of(rule, validation=three_digits(90, 9) if rule.asks else None), Provenance())
    export_onnx(made, tmp_path / "m.onnx")
    assert differs(made, tmp_path / "m.onnx", three_digits(60, 20).images) <= 1e-4


@pytest.mark.parametrize("views", ["one", "mirrored"])
@pytest.mark.parametrize("layers", [(), ("maps@2",), ("means", "maps@3")])
def test_an_encoder_and_its_preparation_are_inside(views, layers, tmp_path):
    features = OnnxFile(str(small_encoder(tmp_path / "e.onnx")), 13, layers, views=views)
    made = ModelFile(predictor_of(LinearHeadFusion(features)), Provenance())
    export_onnx(made, tmp_path / "m.onnx")
    (tmp_path / "e.onnx").unlink()
    assert differs(made, tmp_path / "m.onnx", three_digits(60, 20).images) <= 1e-4
    outputs = [output.name for output in onnx.load(tmp_path / "m.onnx").graph.output]
    assert outputs == ["scores", "probabilities"]


def test_the_file_says_what_it_takes_and_tells(cli, tmp_path):
    made = model()
    save_model(tmp_path / "m.mooring", made.predictor, made.provenance)
    code, out, err = cli("export", "m.mooring", "--onnx", "m.onnx")
    assert (code, err) == (0, "")
    assert "m.onnx: scores as the model's, largest difference" in out
    graph = onnx.load(tmp_path / "m.onnx")
    told = {row.key: row.value for row in graph.metadata_props}
    assert json.loads(told["classes"]) == list(BLUEPRINT.classes)
    assert told["confidence"] == "probability"
    assert told["model head"] == load_model(tmp_path / "m.mooring").sha256
    assert "model" not in told
    (given,) = graph.graph.input
    sides = [d.dim_param or d.dim_value for d in given.type.tensor_type.shape.dim]
    assert (given.name, given.type.tensor_type.elem_type, sides) == ("images", onnx.TensorProto.UINT8, ["N", 1, 8, 8])


class Sorted(Ensemble):
    """A predictor that ONNX has no words for."""

    kind = "sorted"

    def combine(self, embeddings):
        return torch.linalg.svdvals(torch.stack(list(embeddings)))[0].expand(2, -1)[:, :3]


def test_what_cannot_be_exported_is_one_line_and_no_file(tmp_path, capfd):
    from mooring.fusion._ensemble import Members

    networks = tuple(BLUEPRINT.build(torch.Generator()).requires_grad_(False).eval() for _ in range(2))
    odd = Sorted(Members(BLUEPRINT, (0, 1), networks, torch.ones(2) / 2))
    with pytest.raises(ModelError, match="a predictor of the kind 'sorted' cannot be written as ONNX") as told:
        export_onnx(replace(model(), predictor=odd), tmp_path / "m.onnx")
    assert len(str(told.value).splitlines()) == 1
    assert list(tmp_path.iterdir()) == []
    assert capfd.readouterr().out == ""
