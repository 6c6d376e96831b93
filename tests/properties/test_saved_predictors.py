"""A saved predictor scores as it did, to the bit, wherever it is loaded; and nothing else is ever loaded."""

import json
import subprocess
import sys
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import pytest
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save_file

import mooring
from mooring.client import run_client
from mooring.data._sites import InMemorySite
from mooring.errors import ModelError, UploadError
from mooring.federation import Provenance, save_model
from mooring.fusion import (
    FUSIONS,
    Analytic,
    Calibrated,
    CoBoosting,
    Dense,
    Distil,
    GaussianHead,
    Mixture,
    OutputEnsemble,
    StandardisedSum,
    fuse,
)
from mooring.fusion._base import Server
from mooring.fusion._distillation.student import StudentTraining
from mooring.fusion._distillation.synthesis import Synthesis
from mooring.fusion._ensemble import Ensemble, Members
from mooring.fusion._predictor import Predictor, Saveable
from mooring.fusion._saved import SAVEABLE, decode_predictor, encode_predictor, predictor_in_pieces
from mooring.models._backbones import DigitsNet
from mooring.models._feature_maps import EncoderFile, Pixels, RandomEncoder
from mooring.models._heads import HEADS, RawPrototypes
from mooring.schema import canonical_json
from mooring.seeds import generator
from mooring.uploads import Limits, decode_tensors, encode, encode_tensors

BRIEF, SHORT = Synthesis(steps=2, batch=8), StudentTraining(steps=3, batch=16)
QUICK = {
    "dense": Dense(lessons=1, synthesis=BRIEF, study=SHORT),
    "co-boosting": CoBoosting(lessons=1, synthesis=replace(BRIEF, hardness=1.0), study=SHORT),
    "distil": Distil(count=32, study=SHORT),
}
RULES = {kind: QUICK.get(kind) or rule() for kind, rule in FUSIONS.items()} | {
    "calibrated over a network": Calibrated(FUSIONS["parameter-average"]()),
    "calibrated over statistics": Calibrated(GaussianHead()),
    "calibrated twice": Calibrated(Calibrated(OutputEnsemble())),
    "standardised by the batch": StandardisedSum("test-batch"),
    "own covariances": GaussianHead(Pixels(), "own"),
    "diagonal covariances": GaussianHead(RandomEncoder(seed=3), "diagonal", "uniform"),
    "spherical mixture": Mixture(Pixels(), 2, "spherical"),
}
every_rule = pytest.mark.parametrize("name", RULES)


@pytest.fixture(scope="module")
def job(make_job):
    return make_job("v7", needs=frozenset().union(*(rule.needs for rule in RULES.values())))


@pytest.fixture(scope="module")
def server(job, digits):
    return Server(job.blueprint, validation=digits.select(torch.arange(-300, -100)))


@pytest.fixture(scope="module")
def uploads(job, shard_of):
    shards = [shard_of([0, 1, 2], 20), shard_of([3, 4], 9), shard_of([5, 6, 7], 30)]
    return [p for k, shard in enumerate(shards) for p in run_client(job, InMemorySite(k, shard), lambda _: None)]


@pytest.fixture(scope="module")
def images(digits):
    return digits.images[-100:]


@pytest.fixture(scope="module")
def predictors(uploads, server):
    return {name: fuse(rule, uploads, server) for name, rule in RULES.items()}


@pytest.fixture(scope="module")
def predictor(predictors):
    return predictors["class-expert"]


@every_rule
def test_a_loaded_predictor_gives_the_same_scores_to_the_bit(name, predictors, images):
    predictor = predictors[name]
    again = decode_predictor(encode_predictor(predictor)).predictor
    assert torch.equal(again(images), predictor(images))
    scores, own = again.with_members(images)
    assert torch.equal(scores, predictor.with_members(images)[0])
    assert all(map(torch.equal, own, predictor.with_members(images)[1]))
    assert (again.clients, again.passes, len(own)) == (predictor.clients, predictor.passes, len(predictor.clients))
    assert not any(module.training for module in again.train().modules())
    assert not any(parameter.requires_grad for parameter in again.parameters())


@every_rule
def test_a_predictor_computes_wherever_it_lies(name, predictors, images):
    """The meta device refuses every tensor that was forgotten on the CPU."""
    elsewhere = deepcopy(predictors[name]).to("meta")
    scores, own = elsewhere.with_members(images.to("meta"))
    assert scores.is_meta
    assert scores.shape == (len(images), 10)
    assert all(logits.is_meta for logits in own)


@every_rule
def test_saved_again_it_is_the_same_file(name, predictors):
    data = encode_predictor(predictors[name])
    assert encode_predictor(decode_predictor(data).predictor) == data


@pytest.mark.parametrize("head", HEADS)
def test_every_head_survives(head, shard_of, images, tmp_path):
    from untrained import PLAN, upload_of

    blueprint = replace(PLAN, head=HEADS[head]())
    rule = OutputEnsemble()
    made = [upload_of(blueprint, shard_of([k, 5], 9), k, rule.needs) for k in range(2)]
    predictor = fuse(rule, made, Server(blueprint))
    again = decode_predictor(encode_predictor(predictor)).predictor
    assert torch.equal(again(images), predictor(images))


def test_all_kinds_of_predictors_are_named(predictors):
    kinds = {predictor.kind for predictor in predictors.values()}
    assert kinds == {kind for kind, cls in SAVEABLE.items() if issubclass(cls, Predictor)}


@every_rule
def test_a_rule_names_all_classes_that_its_predictor_is_made_of(name, predictors):
    made = {kind for rule in rules_in(RULES[name]) for kind in (cls.kind for cls in rule.makes)}
    inside = {module.kind for module in predictors[name].modules() if isinstance(module, Saveable)}
    assert inside <= made


def rules_in(rule):
    """The rule, and the rule that it calibrates."""
    return [rule, *(rules_in(rule.rule) if isinstance(rule, Calibrated) else [])]


def test_the_facts_tell_what_a_user_must_know(predictor, job):
    facts, _ = decode_tensors(encode_predictor(predictor))
    assert facts["classes"] == list(job.blueprint.classes)
    assert decode_predictor(encode_predictor(predictor)).predictor.blueprint == job.blueprint
    assert facts["predictor"] == {"kind": "class-expert", "clients": [0, 1, 2]}


def test_a_process_with_no_data_and_no_run_folder_gives_the_same_scores(predictors, images, tmp_path):
    names = ["class-expert", "calibrated over a network", "own covariances", "mixture"]
    for k, name in enumerate(names):
        save_model(tmp_path / f"{k}.mooring", predictors[name], Provenance())
    save_file({"images": images}, tmp_path / "images.safetensors")
    script = """
import sys, torch
from safetensors.torch import load_file, save_file
from mooring import load_model
torch.set_num_threads(1)
folder = sys.argv[1]
images = load_file(f"{folder}/images.safetensors")["images"]
scores = {str(k): load_model(f"{folder}/{k}.mooring").predictor(images) for k in range(4)}
save_file(scores, f"{folder}/scores.safetensors")
"""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    home = {"PYTHONPATH": str(Path(mooring.__file__).parents[1]), "HOME": str(elsewhere), "PATH": "/usr/bin:/bin"}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], cwd=elsewhere, env=home, check=True)
    assert list(elsewhere.iterdir()) == []
    scores = load_tensors((tmp_path / "scores.safetensors").read_bytes())
    for k, name in enumerate(names):
        assert torch.equal(scores[str(k)], predictors[name](images)), name


def test_the_file_of_an_encoder_is_not_needed_any_more(job, shard_of, images, tmp_path):
    path = tmp_path / "encoder.safetensors"
    network = job.blueprint.build(generator(5, "network"))
    save_file({n: t.contiguous() for n, t in network.encoder.state_dict().items()}, path)
    fusion = Analytic(EncoderFile(str(path)))
    made = list(run_client(replace(job, needs=fusion.needs), InMemorySite(0, shard_of([1, 2], 20)), lambda _: None))[:1]
    predictor = fuse(fusion, made, Server(job.blueprint))
    scores, data = predictor(images), encode_predictor(predictor)
    assert str(tmp_path).encode() not in data
    path.unlink()
    again = decode_predictor(data).predictor
    assert torch.equal(again(images), scores)
    assert encode_predictor(again) == data


@dataclass(frozen=True)
class Doubled:
    """A user's own backbone."""

    kind: ClassVar[str] = "doubled"
    width: float = 0.5

    def build(self, shape, rng):
        return DigitsNet(2 * self.width).build(shape, rng)


class Loudest(Ensemble):
    """A user's own predictor."""

    kind: ClassVar[str] = "loudest"
    holds: ClassVar = ("temperature",)

    def combine(self, embeddings):
        logits = [net.view(f).logits for net, f in zip(self.networks(), embeddings, strict=True)]
        return torch.stack(logits).amax(0) / self.temperature


def test_a_users_own_classes_are_handed_over_and_never_imported(job, images):
    blueprint = replace(job.blueprint, backbone=Doubled(), head=RawPrototypes())
    networks = tuple(blueprint.build(generator(k, "n")).requires_grad_(False).eval() for k in range(2))
    predictor = Loudest(Members(blueprint, (0, 1), networks, torch.ones(2) / 2), temperature=torch.tensor(2.0))
    data = encode_predictor(predictor)
    again = decode_predictor(data, trusted=[Doubled, Loudest]).predictor
    assert torch.equal(again(images), predictor(images))
    with pytest.raises(ModelError, match=rf"file: kind='{__name__}:Doubled': unknown; pass the class"):
        decode_predictor(data, what="file")
    with pytest.raises(ModelError, match=rf"predictor.kind='{__name__}:Loudest': unknown; pass the class itself"):
        decode_predictor(data, trusted=[Doubled])


def forged(predictor, change=lambda facts: None, tensors=None):
    """A file whose SHA-256 is right and whose content is not."""
    facts, own = decode_tensors(encode_predictor(predictor))
    facts = json.loads(canonical_json(facts))
    change(facts)
    return encode_tensors({**own, **(tensors or {})}, facts)


def model(**changes):
    return lambda facts: facts["model"]["backbone"].update(changes)


def images_of(**changes):
    return lambda facts: facts["preprocessing"].update(changes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f["predictor"].update(kind="class-exprt"),
            "unknown; did you mean 'class-expert'",
        ),
        (lambda f: f["predictor"].update(kind="os:system"), "kind='os:system': unknown; pass the class itself"),
        (lambda f: f["predictor"].update(kind=3), "predictor=.*: must be a mapping with a kind"),
        (lambda f: f["predictor"].update(clients=[0, 1, 2, 3]), "tensor 'predictor.members.3.encoder"),
        (lambda f: f["predictor"].update(clients=[0, 1]), "belongs to nothing|do not fit together"),
        (lambda f: f["predictor"].update(clients="all"), "predictor.clients=all: must be a list, each a whole number"),
        (lambda f: f["predictor"].update(kind="network"), "tensor 'predictor.network.encoder.0.weight' is nothing"),
        (lambda f: f["predictor"].update(kind="calibrated"), "predictor.rule=null: must be a mapping"),
        (lambda f: f["predictor"].update(kind="frozen-features"), "predictor.map=null: must be a name or a mapping"),
        (lambda f: f["predictor"].update(kind="affine"), "kind=affine: is no Predictor"),
        (lambda f: f.pop("predictor"), "holds no predictor"),
        (lambda f: f.update(provenance=["x"]), "provenance is not empty"),
        (lambda f: f.update(classes=["a", "b"]), "tensor 'predictor.members.0.head.prototypes' is"),
        (lambda f: f.update(classes=[]), r"classes=\[\]: must be a list of at least 1"),
        (lambda f: f.update(classes=list(range(10))), "classes=.*: must be a list, each text"),
        (lambda f: f.update(model={}), "model.backbone: is required and missing"),
        (model(kind="resnet34", width=64), "tensor 'predictor.members.0.encoder.0.weight' is"),
        (model(width=64), "tensor 'predictor.members.0.encoder.0.weight' is"),
        (model(width=10**9), "model.backbone.width=1000000000: must be above 0, at most 64"),
        (model(width="1"), "model.backbone.width=1: must be a number"),
        (model(depth=3), "model.backbone.depth=3: unknown key"),
        (images_of(shape=[1, 8]), "preprocessing.shape="),
        (images_of(shape=[1, 10**9, 10**9]), "preprocessing.shape="),
        (images_of(shape=[3, 8, 8]), "tensor 'predictor.members.0.encoder.0.weight' is"),
        (images_of(mean=[0.1, 0.2]), "preprocessing.mean="),
        (images_of(std=[0]), r"preprocessing.std=\[0\]: must be a list, each above 0"),
    ],
)
def test_a_file_that_lies_is_rejected_in_one_line(change, message, predictor):
    with pytest.raises(ModelError, match=message) as told:
        decode_predictor(forged(predictor, change))
    assert len(str(told.value).splitlines()) == 1


def test_tensors_that_do_not_fit_are_rejected(predictor):
    for tensors, message in [
        ({"prototypes": torch.zeros(3, 10, 7)}, "do not fit together"),
        ({"seen": torch.ones(3, dtype=torch.bool)}, "do not fit together"),
        ({"shares": torch.full((3,), float("nan"))}, "tensor 'shares' holds values that are not finite"),
        ({"more": torch.zeros(1)}, "tensor 'more' belongs to nothing"),
    ]:
        with pytest.raises(ModelError, match=message):
            decode_predictor(forged(predictor, tensors=tensors))


def test_what_is_no_predictor_is_rejected_in_one_line(predictor, uploads):
    with pytest.raises(ModelError, match="file: holds no predictor"):
        decode_predictor(encode(uploads[0]), what="file")
    data = encode_predictor(predictor)
    with pytest.raises(UploadError, match="bytes and may have 100"):
        decode_predictor(data, limits=Limits(bytes=100))
    with pytest.raises(UploadError, match="file: was changed on the way"):
        decode_predictor(data[:-1] + b"x", what="file")


def test_networks_read_together_share_no_tensor_that_they_learned(predictor):
    again = decode_predictor(encode_predictor(predictor)).predictor
    places = [tensor.data_ptr() for tensor in again.state_dict().values()]
    assert len(set(places)) == len(places)


def test_a_predictor_encoded_piece_by_piece_has_the_same_bytes(predictor):
    pieces = predictor_in_pieces(predictor)
    assert encode_predictor(predictor) == b"".join(pieces)
    assert pieces.size == sum(map(len, pieces))
    assert pieces.sha256 == sha256(pieces.joined()).hexdigest()
