"""Statistics that add up: what the server solves is what one place with all the data would solve."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import log_softmax
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from mooring import load, run_experiment
from mooring.client import ClientRecipe, run_client
from mooring.data._clients import federate
from mooring.data._digits import Digits
from mooring.data._partition import Dirichlet, Iid
from mooring.data._sites import InMemorySite
from mooring.errors import ConfigError
from mooring.events import ClientProgress, ClientRecord, ClientStarted
from mooring.fusion import Analytic, GaussianHead, Mixture
from mooring.fusion._base import Server
from mooring.fusion._mixture import draw
from mooring.methods import METHODS, Method
from mooring.models._feature_maps import Pixels, RandomEncoder, RandomFilters
from mooring.types import Upload
from mooring.uploads._mixtures import Mixtures, StackedMixtures
from mooring.uploads._moments import Moments, pack_triangle, unpack_triangle

FILTERS = RandomFilters(filters=8)
ALL_KINDS = [Moments(Pixels(), second) for second in ("shared", "per-class", "diagonal")]


@pytest.fixture(scope="module")
def job_for(make_job):
    """A job whose clients train nothing and upload what the fusion needs."""

    def job(fusion):
        return make_job(Method(ClientRecipe(()), fusion), needs=fusion.needs)

    return job


@pytest.fixture(scope="module")
def blueprint(make_job):
    return make_job().blueprint


def uploads_of(job, shards):
    return [p for k, shard in enumerate(shards) for p in run_client(job, InMemorySite(k, shard), lambda _: None)]


def fused(fusion, job, shards):
    return fusion(uploads_of(job, shards), Server(job.blueprint))


def features(feature_map, blueprint, images):
    return feature_map.build(blueprint)(images).double().numpy()


def moments_of(part, blueprint, shard):
    return Upload(0, 0, len(shard), part(blueprint.build(torch.Generator()), shard))


def thirds(digits):
    """Three clients by label, of very different sizes, and all of it."""
    return [digits.select(torch.where(mask)[0]) for mask in (digits.labels < 1, digits.labels == 1, digits.labels > 1)]


@pytest.mark.parametrize("feature_map", [Pixels(), FILTERS, RandomEncoder()], ids=lambda m: m.kind)
@pytest.mark.parametrize("clients", [2, 100])
@pytest.mark.parametrize("partitioner", [Dirichlet(alpha=0.05), Iid()], ids=lambda p: p.kind)
def test_analytic_on_any_partition_is_the_central_ridge_regression(feature_map, clients, partitioner, digits, job_for):
    federation = federate(Digits(), replace(partitioner, clients=clients), seed=1)
    fusion = Analytic(feature_map, ridge=1e-3)
    job = job_for(fusion)
    predictor = fused(fusion, job, [site.shard() for site in federation.sites()])

    x = features(feature_map, job.blueprint, digits.images)
    oracle = Ridge(alpha=1e-3 * len(digits)).fit(x, np.eye(10)[digits.labels])
    test = digits.images[::7]
    expected = oracle.predict(features(feature_map, job.blueprint, test))
    np.testing.assert_allclose(predictor(test).numpy(), expected, atol=1e-4)


@pytest.mark.parametrize("prior", ["counts", "uniform"])
def test_shared_covariance_is_scikit_learns_linear_discriminant_analysis(prior, digits, job_for):
    fusion = GaussianHead(FILTERS, "shared", prior, shrinkage=0.2)
    job = job_for(fusion)
    scores = fused(fusion, job, thirds(digits))(digits.images).numpy()

    x = features(FILTERS, job.blueprint, digits.images)
    oracle = LinearDiscriminantAnalysis("lsqr", shrinkage=0.2).fit(x, digits.labels)
    logits = oracle.decision_function(x)
    if prior == "uniform":
        logits = logits - np.log(oracle.priors_)
    np.testing.assert_allclose(scores, log_softmax(logits, 1), atol=1e-3, rtol=1e-5)
    assert (scores.argmax(1) == logits.argmax(1)).all()


def test_own_covariances_are_full_gaussians(digits, job_for):
    fusion = GaussianHead(Pixels(), "own", shrinkage=0.2)
    job = job_for(fusion)
    scores = fused(fusion, job, thirds(digits))(digits.images).numpy()

    x, y = features(Pixels(), job.blueprint, digits.images), digits.labels.numpy()
    covariances = [np.cov(x[y == c].T, bias=True) for c in range(10)]
    n = np.bincount(y)
    t = sum(n_c * np.trace(s) for n_c, s in zip(n, covariances, strict=True)) / len(y) / 64
    shrunk = [0.8 * s + 0.2 * t * np.eye(64) for s in covariances]
    density = [multivariate_normal(x[y == c].mean(0), shrunk[c]).logpdf(x) for c in range(10)]
    expected = log_softmax(np.stack(density, 1) + np.log(n / len(y)), 1)
    np.testing.assert_allclose(scores, expected, atol=1e-3, rtol=1e-5)


def test_diagonal_covariances_are_naive_bayes(digits, job_for):
    fusion = GaussianHead(FILTERS, "diagonal", shrinkage=0.2)
    job = job_for(fusion)
    scores = fused(fusion, job, thirds(digits))(digits.images).numpy()

    x = features(FILTERS, job.blueprint, digits.images)
    oracle = GaussianNB(var_smoothing=0).fit(x, digits.labels)
    t = oracle.class_prior_ @ oracle.var_.mean(1)
    oracle.var_ = 0.8 * oracle.var_ + 0.2 * t
    np.testing.assert_allclose(scores, oracle.predict_log_proba(x), atol=1e-3, rtol=1e-5)


@pytest.mark.parametrize("covariance", ["shared", "own", "diagonal"])
def test_a_class_of_one_image_or_of_equal_images_is_no_trouble(covariance, shard_of, job_for, digits):
    fusion = GaussianHead(Pixels(), covariance)
    lone, copies = shard_of([3], 1), shard_of([4], 1).select(torch.zeros(5, dtype=torch.int64))
    predictor = fused(fusion, job_for(fusion), [lone, copies])
    assert torch.isfinite(predictor(digits.images[:50])).all()
    assert predictor(lone.images).argmax(1).tolist() == [3]
    assert predictor(copies.images).argmax(1).tolist() == [4] * 5


@pytest.mark.parametrize("part", ALL_KINDS, ids=lambda part: part.second)
def test_moments_add_up(part, digits, blueprint):
    totals = part.total([moments_of(part, blueprint, shard) for shard in thirds(digits)])
    whole = part.total([moments_of(part, blueprint, digits)])
    assert torch.equal(totals.counts, torch.tensor(digits.label_counts()).double())
    torch.testing.assert_close(totals.sums, whole.sums, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(totals.second, whole.second, rtol=1e-10, atol=1e-10)


def test_moments_are_what_they_say(digits, blueprint):
    x = torch.from_numpy(features(Pixels(), blueprint, digits.images))
    y = torch.nn.functional.one_hot(digits.labels).double()
    shared, per_class, diagonal = (part.total([moments_of(part, blueprint, digits)]) for part in ALL_KINDS)
    torch.testing.assert_close(shared.sums, y.T @ x)
    torch.testing.assert_close(shared.second, x.T @ x)
    torch.testing.assert_close(per_class.second, torch.einsum("nc,ni,nj->cij", y, x, x))
    torch.testing.assert_close(diagonal.second, torch.einsum("nc,ni->ci", y, x.square()))


def test_a_triangle_is_half_a_matrix():
    matrix = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    assert pack_triangle(matrix).tolist() == [1, 2, 3, 4, 5, 6]
    assert torch.equal(unpack_triangle(pack_triangle(matrix), 3), matrix)


@pytest.mark.parametrize(
    ("part", "nbytes"),
    [
        (Moments(Pixels(), "shared"), 8 * (10 + 10 * 64 + 64 * 65 // 2)),
        (Moments(Pixels(), "per-class"), 8 * (10 + 10 * 64 + 10 * 64 * 65 // 2)),
        (Moments(Pixels(), "diagonal"), 8 * (10 + 10 * 64 + 10 * 64)),
        (Moments(RandomFilters(), "shared"), 8 * (10 + 10 * 512 + 512 * 513 // 2)),
        (Mixtures(Pixels(), 3), 8 * 10 + 4 * 10 * 3 * (1 + 64 + 64)),
        (Mixtures(Pixels(), 3, "spherical"), 8 * 10 + 4 * 10 * 3 * (1 + 64 + 1)),
    ],
    ids=repr,
)
def test_an_upload_costs_what_the_formula_says(part, nbytes, make_job, shard_of):
    job = make_job(Method(ClientRecipe(()), None), needs=frozenset({part}))
    (upload,) = uploads_of(job, [shard_of([0, 1], 25)])
    assert upload.nbytes == nbytes
    assert {name: t.shape for name, t in upload.tensors.items()} == {
        name: t.shape for name, t in part.expected(job.blueprint).items()
    }


def test_draws_have_the_moments_of_the_pooled_mixture():
    generator = torch.Generator().manual_seed(0)
    weights = torch.tensor([[[0.25, 0.75, 0.0]], [[0.5, 0.2, 0.3]]], dtype=torch.float64)  # (K, C, J)
    means = 3 * torch.randn(2, 1, 3, 4, generator=generator, dtype=torch.float64)
    variances = torch.rand(2, 1, 3, 4, generator=generator, dtype=torch.float64)
    pooled = StackedMixtures(torch.tensor([[30.0], [10.0]], dtype=torch.float64), weights, means, variances)
    x = draw(pooled, 0, 40_000, seed=1)

    shares = torch.tensor([0.75, 0.25], dtype=torch.float64)[:, None] * weights[:, 0]  # (K, J)
    mean = torch.einsum("kj,kjd->d", shares, means[:, 0])
    square = torch.einsum("kj,kjd->d", shares, variances[:, 0] + means[:, 0].square())
    torch.testing.assert_close(x.mean(0), mean, atol=0.02, rtol=0)
    torch.testing.assert_close(x.square().mean(0), square, atol=0.1, rtol=0.01)


def test_a_component_stands_for_at_least_ten_images(blueprint, shard_of):
    part = Mixtures(Pixels(), components=4)
    shard = shard_of([0, 1, 2], 25)
    single = shard_of([3], 1)
    gathered = part.gather([moments_of(part, blueprint, shard), moments_of(part, blueprint, single)])
    assert (gathered.weights > 0).sum(2).tolist() == [[2, 2, 2, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]]
    torch.testing.assert_close(gathered.weights.sum(2)[0, :3], torch.ones(3, dtype=torch.float64))
    image = torch.from_numpy(features(Pixels(), blueprint, single.images))[0]
    torch.testing.assert_close(gathered.means[1, 3, 0], image)
    torch.testing.assert_close(gathered.variances[1, 3, 0], torch.full((64,), part.floor, dtype=torch.float64))


@pytest.mark.parametrize("covariance", ["diagonal", "spherical"])
@pytest.mark.parametrize("components", [1, 4])
def test_a_mixture_keeps_mean_and_variance_of_its_class(covariance, components, blueprint, shard_of):
    part = Mixtures(Pixels(), components, covariance)
    shard = shard_of([5], 120)
    gathered = part.gather([moments_of(part, blueprint, shard)])
    x = torch.from_numpy(features(Pixels(), blueprint, shard.images))
    pi, mu, v = gathered.weights[0, 5], gathered.means[0, 5], gathered.variances[0, 5]
    assert (pi > 0).sum() == components
    torch.testing.assert_close(pi @ mu, x.mean(0), atol=1e-5, rtol=1e-5)
    total = (pi @ (v + mu.square()) - x.mean(0).square()).mean()
    torch.testing.assert_close(total, x.var(0, correction=0).mean() + part.floor, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("seen", [[7], [2, 7]])
def test_one_or_two_classes_make_a_head_too(seen, shard_of, job_for):
    for fusion in (Analytic(), GaussianHead(), Mixture()):
        predictor = fused(fusion, job_for(fusion), [shard_of([c], 30) for c in seen])
        shard = shard_of(seen, 30)
        scores = predictor(shard.images)
        assert torch.isfinite(scores).all()
        assert (scores.argmax(1) == shard.labels).float().mean() > 0.95


VARIANTS = [
    Analytic(Pixels()),
    GaussianHead(FILTERS, "own"),
    GaussianHead(FILTERS, "diagonal", "uniform"),
    Mixture(RandomEncoder(), covariance="spherical"),
]


@pytest.mark.parametrize("fusion", VARIANTS, ids=repr)
def test_a_client_counted_three_times_changes_nothing(fusion, shard_of, job_for, digits):
    job = job_for(fusion)
    (one,) = uploads_of(job, [shard_of(range(8), 30)])
    thrice = [replace(one, client=client) for client in (5, 0, 3)]
    test = digits.images[::20]
    single = fusion([one], Server(job.blueprint))(test)
    torch.testing.assert_close(fusion(thrice, Server(job.blueprint))(test), single, atol=1e-4, rtol=1e-4)
    assert (single[:, 8:].amax(1) < single[:, :8].amin(1)).all()


@pytest.mark.parametrize("name", ["afl", "fedcgs", "fedpft"])
def test_a_client_of_a_statistics_method_uploads_once_and_trains_nothing(name, shard_of, job_for):
    method = METHODS[name]
    job, events = job_for(method.fusion), []
    uploads = list(run_client(job, InMemorySite(4, shard_of([0, 1], 15)), events.append))
    assert [(upload.client, upload.round, upload.samples) for upload in uploads] == [(4, 0, 30)]
    started, record = (event for event in events if not isinstance(event, ClientProgress))  # of images read
    assert (type(started), type(record)) == (ClientStarted, ClientRecord)
    assert record.steps is None and record.base_loss is None and record.seconds >= 0
    again = list(run_client(replace(job, seed=9), InMemorySite(4, shard_of([0, 1], 15)), events.append))
    assert all(torch.equal(uploads[0].tensors[n], again[0].tensors[n]) for n in uploads[0].tensors)


@pytest.mark.parametrize(("name", "least"), [("afl", 0.95), ("fedcgs", 0.95), ("fedpft", 0.9)])
def test_a_run_on_skewed_digits_is_good_and_cheap(name, least, tmp_path):
    (experiment,) = load(overrides=[f"method={name}", "engine.workers=1", f"out={tmp_path / name}"])
    result = run_experiment(experiment)
    assert result.accuracy > least
    assert [fused.round for fused in result.rounds] == [0]
    assert result.last.passes == 1


def test_maps_and_their_settings_are_configuration():
    (experiment,) = load(overrides=["method=v7", "fusion.kind=analytic", "fusion.map.kind=pixels"])
    assert experiment.method.fusion == Analytic(Pixels())
    (experiment,) = load(overrides=["method=fedcgs", "fusion.map.filters=16", "fusion.covariance=own"])
    assert experiment.method.fusion == GaussianHead(RandomFilters(16), "own")
    with pytest.raises(ConfigError, match=r"fusion.map.kind=pixel: unknown; did you mean 'pixels'"):
        load(overrides=["method=afl", "fusion.map.kind=pixel"])
    with pytest.raises(ConfigError, match=r"fusion.map.path: is required and missing"):
        load(overrides=["method=afl", "fusion.map.kind=encoder-file"])


def test_only_statistics_can_do_without_training():
    with pytest.raises(ConfigError, match=r"a client must minimise something for this fusion; .* fusion=analytic"):
        load(overrides=["method=afl", "fusion=count-weighted"])
    with pytest.raises(ConfigError, match="a client must minimise something"):
        load(overrides=["method=local-only", "method.client.terms=[]"])
    assert load(overrides=["method=v4", "method.client.terms=[]", "fusion=mixture"])


def test_scores_of_a_gaussian_head_are_log_probabilities(digits, job_for):
    fusion = GaussianHead()
    scores = fused(fusion, job_for(fusion), thirds(digits))(digits.images[:100])
    torch.testing.assert_close(scores.exp().sum(1), torch.ones(100), atol=1e-4, rtol=0)
    assert scores.max() <= 1e-6
