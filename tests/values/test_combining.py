"""Fusions that ask all clients' networks for every image: values by hand, and oracles."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from sklearn.neighbors import NearestCentroid
from untrained import NEEDS, PLAN, changed, network_of

from mooring.client import run_client
from mooring.data._sites import InMemorySite
from mooring.errors import FusionError
from mooring.evaluate import measure
from mooring.fusion import (
    FUSIONS,
    Calibrated,
    ClassExpert,
    Familiarity,
    Iffi,
    NearestPrototype,
    OutputEnsemble,
    StandardisedSum,
)
from mooring.fusion._base import Server
from mooring.models._network import PROTOTYPES
from mooring.seeds import generator
from mooring.uploads import UploadFacts
from mooring.uploads._classes import CLASS_MEANS, LABEL_COUNTS
from mooring.uploads._embeddings import (
    EMBEDDING_MEAN,
    EMBEDDING_STD,
    PROTOTYPE_RESPONSE,
    EmbeddingMoments,
    PrototypeResponse,
)


@pytest.fixture(scope="module")
def trained(make_job, shard_of):
    """Clients that have learned something."""
    job = make_job("v4", needs=NEEDS, local_epochs=8)
    shards = [shard_of([0, 1, 2, 3, 4], 40), shard_of([4, 5, 6, 7, 8, 9], 30)]
    return job, [p for k, shard in enumerate(shards) for p in run_client(job, InMemorySite(k, shard), lambda _: None)]


def test_iffi_weighs_every_client_and_every_sample(trained, images):
    job, uploads = trained
    predictor = Iffi()(uploads, Server(job.blueprint))
    f = torch.stack([network.embed(images) for network in predictor.networks()])
    w = predictor.weights(f)  # (K, B); all equal in the published code
    assert (w[0] - w[1]).abs().mean() > 0.02
    assert 0.1 < (w[0] > w[1]).float().mean() < 0.9  # each client is heard more for some of the samples
    assert w.std(1).min() > 0.02


def test_iffi_by_hand(uploads, server, images):
    predictor = Iffi()(uploads, server)
    f = torch.stack([network.embed(images) for network in predictor.networks()])
    noise = 0.3 + 0.4 * torch.randn(64, 1, 8, 8, generator=generator(0, "iffi"))
    mu = torch.stack([network.embed(noise).mean(0) for network in predictor.networks()])[:, None]  # (K, 1, d)
    w = 1 - (f * mu).sum(2) / (f.norm(dim=2) * mu.norm(dim=2))
    torch.testing.assert_close(predictor.weights(f), w, atol=1e-5, rtol=1e-4)
    blend = (w[..., None] * f).sum(0) / w.sum(0)[:, None]
    mean = sum(upload.tensors[PROTOTYPES] for upload in uploads) / 3
    torch.testing.assert_close(predictor(images), F.normalize(blend) @ mean.T, atol=1e-3, rtol=1e-3)


def test_iffi_hears_all_alike_where_everything_looks_like_noise(uploads, server):
    predictor = Iffi()(uploads, server)
    f = predictor.noise[:, None]  # (K, 1, d)
    scores = predictor.combine(f)
    torch.testing.assert_close(scores, F.normalize(f.mean(0)) @ predictor.prototypes.T, atol=1e-3, rtol=1e-3)


def test_output_ensemble_is_the_mixture_of_the_clients(uploads, server, images):
    predictor = OutputEnsemble()(uploads, server)
    mixture = sum(
        upload.samples / 52 * network(images).logits.softmax(1)
        for upload, network in zip(uploads, predictor.networks(), strict=True)
    )
    torch.testing.assert_close(predictor(images).softmax(1), mixture)


def test_standardised_sum_by_hand(uploads, server, images):
    predictor = StandardisedSum()(uploads, server)
    total = 0
    for upload, network in zip(uploads, predictor.networks(), strict=True):
        z = network.embed(images)
        z = z / z.norm(dim=1, keepdim=True)
        total = total + upload.samples**0.5 * (z - upload.tensors[EMBEDDING_MEAN]) / upload.tensors[
            EMBEDDING_STD
        ].clamp(min=1e-3)
    prototypes = torch.stack([upload.tensors[PROTOTYPES] for upload in uploads])
    anchors = F.normalize((prototypes / prototypes.norm(dim=2, keepdim=True)).sum(0))
    torch.testing.assert_close(predictor(images), F.normalize(total) @ anchors.T, atol=1e-5, rtol=1e-4)


def test_familiarity_by_hand(uploads, server, images):
    predictor = Familiarity(exponent=2.0, sharpness=10.0)(uploads, server)
    prototypes = torch.stack([upload.tensors[PROTOTYPES] for upload in uploads])
    unit = prototypes / prototypes.norm(dim=2, keepdim=True)
    anchors = F.normalize(unit.sum(0))
    mixture, weights = 0, 0
    for upload, own, network in zip(uploads, unit, predictor.networks(), strict=True):
        f, held = network.embed(images), upload.tensors[LABEL_COUNTS] > 0
        response = (f @ own[held].T).amax(1, keepdim=True).clamp(min=0)
        weight = upload.samples / 52 * (response / upload.tensors[PROTOTYPE_RESPONSE]) ** 2
        votes = torch.zeros(len(images), len(held))
        votes[:, held] = (10 * F.normalize(f) @ anchors[held].T).softmax(1)
        mixture, weights = mixture + weight * votes, weights + weight
    unseen = sum(upload.tensors[LABEL_COUNTS] for upload in uploads) == 0
    assert unseen.any()
    assert not unseen.all()
    found = predictor(images)
    torch.testing.assert_close(found.exp(), mixture / weights, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(found.exp().sum(1), torch.ones(len(images)))  # the scores are log-probabilities
    assert (found[:, unseen] < -60).all()


def test_familiarity_does_not_depend_on_the_scale_of_a_clients_features(uploads, server, images):
    """A client whose features and whose uploaded mean are both a hundred times as long counts as before."""
    before = Familiarity()(uploads, server)
    scaled = Familiarity()(uploads, server)
    scaled.responses[1] *= 100
    embeddings = [network.embed(images) for network in before.networks()]
    embeddings[1] = embeddings[1] * 100
    expected = before(images)
    torch.testing.assert_close(scaled.combine(embeddings), expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(before.combine(embeddings), expected, atol=1e-3)  # the mean is what undoes the scale


def test_prototype_response_is_that_of_the_clients_own_images_and_classes(digits):
    shard = digits.select(torch.arange(40)[digits.labels[:40] < 4])
    network = network_of(PLAN, 0, shard.images)
    unit = network.prototypes / network.prototypes.norm(dim=1, keepdim=True)
    responses = (network.embed(shard.images) @ unit[:4].T).amax(1).detach().numpy().astype(np.float64)
    np.testing.assert_allclose(PrototypeResponse()(network, shard)[PROTOTYPE_RESPONSE], [responses.mean()], rtol=1e-5)


def test_moments_of_embeddings_are_those_of_the_clients_own_images(digits):
    shard = digits.select(torch.arange(40))
    network = network_of(PLAN, 0, shard.images)
    tensors = EmbeddingMoments()(network, shard)
    z = F.normalize(network.embed(shard.images)).detach().numpy().astype(np.float64)
    np.testing.assert_allclose(tensors[EMBEDDING_MEAN], z.mean(0), atol=1e-6)
    np.testing.assert_allclose(tensors[EMBEDDING_STD], z.std(0), atol=1e-6)


def test_one_scale_for_all_clients_whatever_their_encoders_make_of_it(uploads, server, images):
    """On the batch that is asked about, every client's standardised embedding has mean 0 and deviation 1."""
    [only] = [StandardisedSum("test-batch")([upload], server) for upload in uploads[:1]]
    z = F.normalize(only.networks()[0].embed(images))
    moving = z.std(0, correction=0) > 1e-3
    scaled = ((z - z.mean(0)) / z.std(0, correction=0))[:, moving]
    torch.testing.assert_close(scaled.mean(0), torch.zeros(int(moving.sum())), atol=1e-4, rtol=0)
    assert not torch.allclose(only(images)[:5], only(images[:5]), atol=1e-4)  # who is asked beside whom matters


@pytest.mark.parametrize(
    ("spoiled", "problem"),
    [
        ({EMBEDDING_MEAN: torch.full((32,), 0.9)}, "is not a mean of unit vectors"),
        ({EMBEDDING_STD: torch.full((32,), -0.1)}, "what no unit vectors deviate by"),
        ({EMBEDDING_STD: torch.full((32,), 1.5)}, "what no unit vectors deviate by"),
    ],
)
def test_moments_that_no_unit_vectors_have_are_rejected(spoiled, problem):
    tensors = {EMBEDDING_MEAN: torch.zeros(32), EMBEDDING_STD: torch.full((32,), 0.1)}
    assert EmbeddingMoments().check(tensors, UploadFacts(10)) == []
    [told] = EmbeddingMoments().check(tensors | spoiled, UploadFacts(10))
    assert problem in told


@pytest.mark.parametrize("kind", ["class-expert", "nearest-prototype", "parameter-average", "output-ensemble"])
def test_calibration_finds_the_likeliest_temperature(kind, trained, digits, images):
    job, uploads = trained
    rule = FUSIONS[kind]()
    validation = digits.select(torch.arange(-500, -100))
    server = Server(job.blueprint, validation=validation)
    plain, calibrated = rule(uploads, server), Calibrated(rule)(uploads, server)
    scores = plain(validation.images).double()

    def surprise(log_t):
        return F.cross_entropy(scores / np.exp(log_t), validation.labels).item()

    best = minimize_scalar(surprise, bounds=(-6, 6), method="bounded", options={"xatol": 1e-6}).x
    assert calibrated.temperature.log().item() == pytest.approx(best, abs=1e-3)
    torch.testing.assert_close(calibrated(images), plain(images) / calibrated.temperature)
    assert (calibrated.clients, calibrated.passes) == (plain.clients, plain.passes)


def test_calibration_makes_class_experts_honest_and_changes_no_prediction(trained, digits):
    job, uploads = trained
    held_out = digits.select(torch.arange(-900, -500))
    server = Server(job.blueprint, validation=digits.select(torch.arange(-500, -100)))
    plain = measure(ClassExpert()(uploads, server)(held_out.images), held_out.labels)
    calibrated = measure(Calibrated()(uploads, server)(held_out.images), held_out.labels)
    assert calibrated.confusion == plain.confusion
    assert plain.calibration_error > 0.3  # cosines make a timid soft-max
    assert calibrated.calibration_error < plain.calibration_error / 3


def test_members_of_a_calibrated_ensemble_are_examined_as_they_are(uploads, server, images):
    plain, calibrated = ClassExpert()(uploads, server), Calibrated()(uploads, server)
    scores, own = calibrated.with_members(images)
    torch.testing.assert_close(scores, calibrated(images))
    assert calibrated.clients == plain.clients
    assert all(map(torch.equal, own, plain.with_members(images)[1]))


def test_calibration_without_validation_images_says_how_to_get_some(uploads):
    assert "validation" in Calibrated().asks
    with pytest.raises(FusionError, match=r"set data.validation=0.1"):
        Calibrated()(uploads, Server(PLAN))


def test_class_means_of_one_client_are_those_of_scikit_learn(shards, uploads, server, images):
    network = network_of(PLAN, 0, shards[0].images)
    with torch.no_grad():
        own, test = network.embed(shards[0].images), network.embed(images)
    oracle = NearestCentroid().fit(own.double().numpy(), shards[0].labels.numpy())
    means = uploads[0].tensors[CLASS_MEANS]
    np.testing.assert_allclose(means[:3].numpy(), oracle.centroids_, rtol=1e-4, atol=1e-5)
    assert means[3:].abs().max() == 0
    predictor = NearestPrototype()(uploads[:1], server)
    assert predictor(images).argmax(1).tolist() == oracle.predict(test.double().numpy()).tolist()


def test_nearest_prototype_by_hand(uploads, server, images):
    predictor = NearestPrototype()(uploads, server)
    m2 = (8 * uploads[0].tensors[CLASS_MEANS][2] + 5 * uploads[1].tensors[CLASS_MEANS][2]) / 13
    torch.testing.assert_close(predictor.prototypes[2], m2)
    distances = [(network.embed(images) - m2).square().sum(1) for network in predictor.networks()]
    expected = -(24 * distances[0] + 20 * distances[1] + 8 * distances[2]) / 52
    torch.testing.assert_close(predictor(images)[:, 2], expected, atol=1e-5, rtol=1e-4)


def test_a_class_without_images_is_never_the_nearest(uploads, server, images):
    far = [changed(u, **{CLASS_MEANS: 1e6 * u.tensors[CLASS_MEANS]}) for u in uploads]  # a zero row is nearer
    predictor = NearestPrototype()(far, server)
    scores, own = predictor.with_members(images)
    assert torch.isfinite(scores).all()
    assert scores.argmax(1).max() < 7
    for alone, upload in zip(own, uploads, strict=True):
        assert (upload.tensors[LABEL_COUNTS][alone.argmax(1)] > 0).all()
