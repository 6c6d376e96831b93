"""Promises that every fusion keeps."""

from dataclasses import replace

import pytest
import torch

from mooring.client import run_client
from mooring.data._sites import InMemorySite
from mooring.errors import FusionError
from mooring.fusion import FUSIONS, CoBoosting, Dense, Distil, fuse
from mooring.fusion._base import Server
from mooring.fusion._distillation.student import StudentTraining
from mooring.fusion._distillation.synthesis import Synthesis
from mooring.fusion._linear_head import LinearHeadFusion
from mooring.fusion._solvers import Discriminant
from mooring.models._network import PROTOTYPES
from mooring.types import Upload
from mooring.uploads import Prototypes

SOUND = ["count-weighted", "class-expert", "calibrated"]
SHORT = StudentTraining(steps=6, batch=16)
BRIEF = Synthesis(steps=3, batch=8)
QUICK = {  # what a rule promises does not depend on how long its student learns
    "dense": Dense(lessons=2, synthesis=BRIEF, study=SHORT),
    "co-boosting": CoBoosting(lessons=2, synthesis=replace(BRIEF, hardness=1.0), study=SHORT),
    "distil": Distil(count=64, study=SHORT),
}


def rule(kind):
    return QUICK.get(kind) or FUSIONS[kind]()


OF_MODELS = [kind for kind in FUSIONS if Prototypes() in FUSIONS[kind]().needs]
OF_STATISTICS = [kind for kind in FUSIONS if not any(part.trained for part in FUSIONS[kind]().needs)]


@pytest.fixture(scope="module")
def job(make_job):
    return make_job("v7", needs=frozenset().union(*(fusion().needs for fusion in FUSIONS.values())))


@pytest.fixture(scope="module")
def server(job, digits):
    return Server(job.blueprint, validation=digits.select(torch.arange(-300, -100)))


@pytest.fixture(scope="module")
def uploads(job, shard_of):
    shards = [shard_of([0, 1, 2], 20), shard_of([3, 4], 9), shard_of([5, 6, 7], 30)]
    return [p for k, shard in enumerate(shards) for p in run_client(job, InMemorySite(k, shard), lambda _: None)]


@pytest.fixture(scope="module")
def test_images(digits):
    return digits.images[-100:]


@pytest.mark.parametrize("kind", FUSIONS)
def test_fusion_ignores_client_order(kind, server, uploads, test_images):
    fusion = rule(kind)
    forward, backward = fuse(fusion, uploads, server), fuse(fusion, uploads[::-1], server)
    assert torch.equal(forward(test_images), backward(test_images))


@pytest.mark.parametrize("kind", FUSIONS)
def test_fusion_is_deterministic_and_stays_in_eval_mode(kind, server, uploads, test_images):
    predictor = fuse(rule(kind), uploads, server)
    predictor.train()
    assert not any(module.training for module in predictor.modules())
    whole = predictor(test_images)
    assert torch.equal(whole, predictor(test_images))
    alone = torch.cat([predictor(test_images[i : i + 1]) for i in range(5)])  # other test images do not matter
    torch.testing.assert_close(alone, whole[:5], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", FUSIONS)
def test_identical_clients_equal_one_client(kind, server, uploads, test_images):
    one = uploads[0]
    copies = [Upload(k, one.round, one.samples, one.tensors) for k in range(4)]
    fusion = (
        LinearHeadFusion(solver=Discriminant()) if kind == "linear-head" else rule(kind)
    )  # a ridge leaves images out
    torch.testing.assert_close(fuse(fusion, copies, server)(test_images), fuse(fusion, [one], server)(test_images))


@pytest.mark.parametrize("kind", FUSIONS)
def test_a_missing_client_is_no_trouble(kind, server, uploads, test_images):
    scores = fuse(rule(kind), uploads[1:], server)(test_images)
    assert torch.isfinite(scores).all()


@pytest.mark.parametrize("kind", SOUND)
def test_an_unseen_class_never_wins(kind, server, uploads, test_images):
    loud = []
    for upload in uploads:  # prototypes of the unseen classes 8 and 9 are as tempting as they can be
        prototypes = upload.tensors[PROTOTYPES].clone()
        prototypes[8:] = 1e6
        loud.append(Upload(upload.client, upload.round, upload.samples, {**upload.tensors, PROTOTYPES: prototypes}))
    scores = fuse(rule(kind), loud, server)(test_images)
    assert torch.isfinite(scores).all()
    assert scores.argmax(1).max() < 8


@pytest.mark.parametrize("kind", SOUND)
def test_a_clients_prototype_norm_buys_no_influence(kind, server, uploads, test_images):
    shrunk = uploads[0].tensors[PROTOTYPES] / 20
    other = [Upload(0, 0, uploads[0].samples, {**uploads[0].tensors, PROTOTYPES: shrunk}), *uploads[1:]]
    fusion = rule(kind)
    torch.testing.assert_close(
        fuse(fusion, uploads, server)(test_images),
        fuse(fusion, other, server)(test_images),
        atol=1e-5,
        rtol=1e-4,
    )


@pytest.mark.parametrize("kind", OF_MODELS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: {n: v for n, v in t.items() if n != PROTOTYPES}, r"client 1: tensor 'head.prototypes' is missing"),
        (lambda t: {**t, PROTOTYPES: t[PROTOTYPES][:, :5]}, r"client 1: .* has shape \(10, 5\), not \(10, 32\)"),
        (lambda t: {**t, PROTOTYPES: t[PROTOTYPES] * float("nan")}, r"client 1: .* not finite"),
    ],
)
def test_a_broken_upload_is_rejected_by_client_and_tensor(kind, spoil, message, server, uploads):
    broken = Upload(1, 0, uploads[1].samples, spoil(dict(uploads[1].tensors)))
    with pytest.raises(FusionError, match=message):
        fuse(rule(kind), [uploads[0], broken, uploads[2]], server)


@pytest.mark.parametrize("kind", OF_STATISTICS)
def test_statistics_never_speak_for_an_unseen_class(kind, server, uploads, test_images):
    scores = fuse(rule(kind), uploads, server)(test_images)
    assert torch.isfinite(scores).all()
    assert (scores[:, 8:].amax(1) < scores[:, :8].amin(1)).all()
    assert scores.argmax(1).max() < 8


@pytest.mark.parametrize("kind", OF_STATISTICS)
@pytest.mark.parametrize(
    ("which", "spoil", "message"),
    [
        (0, lambda t: t[:9], r"client 1: tensor '.*\.counts' has shape \(9,\), not \(10,\)"),
        (0, lambda t: t + 1, r"client 1: tensor '.*\.counts' does not add up to its 18 samples"),
        (1, lambda t: t + 1, r"client 1: tensor '.*\.(sums|weights)' .* classe?s? with(out)? images"),
        (-1, lambda t: t * float("nan"), r"client 1: tensor '.*\.(second|variances)' .* not finite"),
        (-1, lambda t: -t, r"client 1: tensor '.*\.(second|variances)' holds a negative variance"),
    ],
)
def test_broken_statistics_are_rejected_by_client_and_tensor(kind, which, spoil, message, server, uploads):
    (part,) = FUSIONS[kind]().needs
    name = list(part.expected(server.blueprint))[which]
    tensors = dict(uploads[1].tensors)
    broken = Upload(1, 0, uploads[1].samples, {**tensors, name: spoil(tensors[name])})
    with pytest.raises(FusionError, match=message):
        fuse(rule(kind), [uploads[0], broken, uploads[2]], server)
    with pytest.raises(FusionError, match=rf"client 1: tensor '{name}' is missing"):
        fuse(rule(kind), [Upload(1, 0, 18, {n: t for n, t in tensors.items() if n != name})], server)


@pytest.mark.parametrize("kind", FUSIONS)
def test_every_part_that_a_fusion_needs_is_missed(kind, server, uploads):
    fusion = rule(kind)
    for part in fusion.needs:
        name = next(iter(part.expected(server.blueprint)))
        rest = {other: tensor for other, tensor in uploads[1].tensors.items() if other != name}
        with pytest.raises(FusionError, match=f"client 1: tensor '{name}' is missing"):
            fuse(fusion, [uploads[0], Upload(1, 0, uploads[1].samples, rest)], server)


@pytest.mark.parametrize("kind", FUSIONS)
def test_nothing_uploaded_is_nothing_fused(kind, server):
    with pytest.raises(FusionError, match="nothing to fuse"):
        fuse(rule(kind), [], server)


def test_published_fusion_is_the_plain_mean_against_the_weighted_feature(server, uploads, test_images):
    predictor = fuse(FUSIONS["feature-ensemble"](), uploads, server)
    mean = sum(upload.tensors[PROTOTYPES] for upload in uploads) / 3
    torch.testing.assert_close(predictor.prototypes, mean)
    torch.testing.assert_close(predictor.shares, torch.tensor([60.0, 18.0, 90.0]) / 168)
