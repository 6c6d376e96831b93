"""Promises that every fusion keeps."""

import pytest
import torch

from mooring.client import run_client
from mooring.errors import FusionError
from mooring.fusion import FUSIONS
from mooring.fusion.server import Server
from mooring.models.network import PROTOTYPES
from mooring.types import Payload

SOUND = ["count-weighted", "class-expert"]


@pytest.fixture(scope="module")
def job(make_job):
    return make_job("v7")


@pytest.fixture(scope="module")
def uploads(job, shard_of):
    shards = [shard_of([0, 1, 2], 20), shard_of([3, 4], 9), shard_of([5, 6, 7], 30)]
    return [p for k, shard in enumerate(shards) for p in run_client(job, shard, k, lambda _: None)]


@pytest.fixture(scope="module")
def test_images(digits):
    return digits.images[-100:]


@pytest.mark.parametrize("kind", FUSIONS)
def test_fusion_ignores_client_order(kind, job, uploads, test_images):
    fusion = FUSIONS[kind]()
    forward, backward = fusion(uploads, Server(job.blueprint)), fusion(uploads[::-1], Server(job.blueprint))
    assert torch.equal(forward(test_images), backward(test_images))


@pytest.mark.parametrize("kind", FUSIONS)
def test_fusion_is_deterministic_and_stays_in_eval_mode(kind, job, uploads, test_images):
    predictor = FUSIONS[kind]()(uploads, Server(job.blueprint))
    predictor.train()
    assert not any(module.training for module in predictor.modules())
    whole = predictor(test_images)
    assert torch.equal(whole, predictor(test_images))
    alone = torch.cat([predictor(test_images[i : i + 1]) for i in range(5)])  # other test images do not matter
    torch.testing.assert_close(alone, whole[:5], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", FUSIONS)
def test_identical_clients_equal_one_client(kind, job, uploads, test_images):
    one = uploads[0]
    copies = [Payload(k, one.round, one.samples, one.tensors) for k in range(4)]
    fusion = FUSIONS[kind]()
    torch.testing.assert_close(
        fusion(copies, Server(job.blueprint))(test_images), fusion([one], Server(job.blueprint))(test_images)
    )


@pytest.mark.parametrize("kind", FUSIONS)
def test_a_missing_client_is_no_trouble(kind, job, uploads, test_images):
    scores = FUSIONS[kind]()(uploads[1:], Server(job.blueprint))(test_images)
    assert torch.isfinite(scores).all()


@pytest.mark.parametrize("kind", SOUND)
def test_an_unseen_class_never_wins(kind, job, uploads, test_images):
    loud = []
    for upload in uploads:  # prototypes of the unseen classes 8 and 9 are as tempting as they can be
        prototypes = upload.tensors[PROTOTYPES].clone()
        prototypes[8:] = 1e6
        loud.append(Payload(upload.client, upload.round, upload.samples, {**upload.tensors, PROTOTYPES: prototypes}))
    scores = FUSIONS[kind]()(loud, Server(job.blueprint))(test_images)
    assert torch.isfinite(scores).all()
    assert scores.argmax(1).max() < 8


@pytest.mark.parametrize("kind", SOUND)
def test_a_clients_prototype_norm_buys_no_influence(kind, job, uploads, test_images):
    shrunk = uploads[0].tensors[PROTOTYPES] / 20
    other = [Payload(0, 0, uploads[0].samples, {**uploads[0].tensors, PROTOTYPES: shrunk}), *uploads[1:]]
    fusion = FUSIONS[kind]()
    torch.testing.assert_close(
        fusion(uploads, Server(job.blueprint))(test_images),
        fusion(other, Server(job.blueprint))(test_images),
        atol=1e-5,
        rtol=1e-4,
    )


@pytest.mark.parametrize("kind", FUSIONS)
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda t: {n: v for n, v in t.items() if n != PROTOTYPES}, r"client 1: tensor 'head.prototypes' is missing"),
        (lambda t: {**t, PROTOTYPES: t[PROTOTYPES][:, :5]}, r"client 1: .* has shape \(10, 5\), not \(10, 32\)"),
        (lambda t: {**t, PROTOTYPES: t[PROTOTYPES] * float("nan")}, r"client 1: .* not finite"),
    ],
)
def test_a_broken_upload_is_refused_by_client_and_tensor(kind, spoil, message, job, uploads):
    broken = Payload(1, 0, uploads[1].samples, spoil(dict(uploads[1].tensors)))
    with pytest.raises(FusionError, match=message):
        FUSIONS[kind]()([uploads[0], broken, uploads[2]], Server(job.blueprint))


@pytest.mark.parametrize("kind", FUSIONS)
def test_nothing_uploaded_is_nothing_fused(kind, job):
    with pytest.raises(FusionError, match="nothing to fuse"):
        FUSIONS[kind]()([], Server(job.blueprint))


def test_published_fusion_is_the_plain_mean_against_the_weighted_feature(job, uploads, test_images):
    predictor = FUSIONS["feature-ensemble"]()(uploads, Server(job.blueprint))
    mean = sum(upload.tensors[PROTOTYPES] for upload in uploads) / 3
    torch.testing.assert_close(predictor.prototypes, mean)
    torch.testing.assert_close(predictor.shares, torch.tensor([60.0, 18.0, 90.0]) / 168)
