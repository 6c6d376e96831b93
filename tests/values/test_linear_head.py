"""The head of `mooring`: computed from sums alone, it is what all images together would have given."""

from dataclasses import replace

import pytest
import torch
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Ridge as SklearnRidge

from mooring.client import run_client
from mooring.data._sites import InMemorySite
from mooring.evaluate import measure
from mooring.fusion import LinearHeadFusion, fuse
from mooring.fusion._base import Server
from mooring.fusion._solvers import STRENGTHS, Discriminant, Ridge, freedom, gcv, standardise_moments
from mooring.models._feature_maps import Pixels, RandomFilters
from mooring.uploads._moments import Moments, SummedMoments

HEAD = LinearHeadFusion(RandomFilters(16))


def totals_of(x, y, classes):
    y = torch.nn.functional.one_hot(y, classes).double()
    return SummedMoments(y.sum(0), y.T @ x, x.T @ x)


@pytest.fixture(scope="module")
def cloud():
    """600 points of 12 features, three of them noise and one constant, in 3 classes of unequal size."""
    rng = torch.Generator().manual_seed(0)
    y = torch.multinomial(torch.tensor([0.5, 0.3, 0.2]), 600, replacement=True, generator=rng)
    centres = 2 * torch.randn(3, 12, generator=rng, dtype=torch.float64)
    x = 3 + centres[y] + 3 * torch.randn(600, 12, generator=rng, dtype=torch.float64)
    x = x * torch.logspace(-2, 2, 12, dtype=torch.float64)
    x[:, 5] = 7.0
    return x, y


@pytest.fixture(scope="module")
def job_for(make_job):
    return lambda fusion: make_job("afl", needs=fusion.needs)


@pytest.fixture(scope="module")
def parts(digits):
    order = torch.randperm(len(digits), generator=torch.Generator().manual_seed(3))
    return [digits.select(order[:1100]), digits.select(order[1100:])]


def fused(fusion, job, shards, **server):
    uploads = [upload for k, shard in enumerate(shards) for upload in run_client(job, InMemorySite(k, shard), print)]
    return fuse(fusion, uploads, Server(job.blueprint, **server))


def by_class(images):
    return [images.select((images.labels == c).nonzero()[:, 0]) for c in range(10)]


def test_the_ridge_is_that_of_standardised_features(cloud):
    x, y = cloud
    moments = standardise_moments(totals_of(x, y, 3))
    fit = Ridge(0.03)(moments)
    z = (x - x.mean(0)) * moments.inverse
    assert moments.inverse[5] == 0
    expected = SklearnRidge(0.03 * 600).fit(z.numpy(), torch.nn.functional.one_hot(y, 3).double().numpy())
    torch.testing.assert_close(fit.weight, torch.from_numpy(expected.coef_).T)
    torch.testing.assert_close(fit.bias, torch.from_numpy(expected.intercept_))


def test_generalised_cross_validation_from_sums_is_that_of_the_images(cloud):
    x, y = cloud
    moments = standardise_moments(totals_of(x, y, 3))
    z, one_hot = (x - x.mean(0)) * moments.inverse, torch.nn.functional.one_hot(y, 3).double()
    values, vectors = torch.linalg.eigh(moments.covariance)
    along = (vectors.T @ moments.cross).square().sum(1)
    for strength in STRENGTHS[::7]:
        hat = z @ torch.linalg.solve(z.T @ z + 600 * strength * torch.eye(12), z.T) + 1 / 600
        errors = (one_hot - hat @ one_hot).square().sum()
        expected = errors / 600 / (1 - hat.trace() / 600) ** 2
        torch.testing.assert_close(freedom(values, strength), hat.trace())
        torch.testing.assert_close(gcv(values, along, moments, strength), expected)


def test_the_moments_of_scores_are_those_of_images_left_out(cloud):
    """y - (y - s) / (1 - p/n) stands for the score of an image that was left out, of which there are 600."""
    x, y = cloud
    moments = standardise_moments(totals_of(x, y, 3))
    z, one_hot = (x - x.mean(0)) * moments.inverse, torch.nn.functional.one_hot(y, 3).double()
    hat = z @ torch.linalg.solve(z.T @ z + 600 * 0.01 * torch.eye(12), z.T) + 1 / 600
    left_out = one_hot - (one_hot - hat @ one_hot) / (1 - hat.diagonal())[:, None]
    fit = Ridge(0.01)(moments)
    means = torch.stack([left_out[y == c].mean(0) for c in range(3)])
    within = sum((left_out[y == c] - means[c]).T @ (left_out[y == c] - means[c]) for c in range(3)) / 600
    torch.testing.assert_close(fit.means, means, atol=2e-3, rtol=0)
    torch.testing.assert_close(fit.within, within, atol=2e-3, rtol=0)


@pytest.mark.parametrize("copies", [6, 30, 60])
def test_an_image_that_is_there_twice_leaves_no_freedom(copies, digits, job_for):
    """With fewer images than features the residual of copies is rounding, and was taken for a perfect prediction."""
    phi = RandomFilters().build(job_for(HEAD).blueprint)  # 512 features

    def fit(order):
        totals = totals_of(phi(digits.images[order]).double(), digits.labels[order], 10)
        on_the_wire = replace(totals, sums=totals.sums.float().double(), second=totals.second.float().double())
        return Ridge()(standardise_moments(on_the_wire))

    once, twice = fit(torch.arange(60)), fit(torch.cat([torch.arange(60), torch.arange(copies)]))
    assert float(twice.error) == pytest.approx(float(once.error), rel=0.2)
    assert torch.linalg.eigvalsh(twice.within)[0] > -1e-9
    if copies == 60:
        torch.testing.assert_close(twice.weight, once.weight, rtol=1e-3, atol=1e-6)
        torch.testing.assert_close(twice.within, once.within, rtol=1e-3, atol=1e-6)


def test_without_shrinkage_the_discriminant_is_the_textbooks(digits, job_for):
    fusion = LinearHeadFusion(Pixels(), Discriminant(1e-9), precision="float64")
    predictor = fused(fusion, job_for(fusion), [digits])
    x = digits.images.flatten(1).double() / 255
    expected = LinearDiscriminantAnalysis("lsqr").fit(x.numpy(), digits.labels.numpy())
    ours, theirs = predictor(digits.images).exp(), torch.from_numpy(expected.predict_proba(x.numpy())).float()
    assert (ours.argmax(1) == theirs.argmax(1)).float().mean() > 0.995
    torch.testing.assert_close(ours, theirs, atol=0.05, rtol=0)


@pytest.mark.parametrize("solver", [Ridge(), Discriminant()], ids=lambda solver: solver.kind)
def test_one_class_at_each_client_or_all_at_one_give_the_same_predictions(solver, digits, job_for):
    fusion = replace(HEAD, solver=solver)
    job = job_for(fusion)
    skewed, whole = (fused(fusion, job, shards)(digits.images) for shards in (by_class(digits), [digits]))
    torch.testing.assert_close(skewed, whole, atol=1e-3, rtol=1e-3)
    assert torch.equal(skewed.argmax(1), whole.argmax(1))


def test_float32_halves_the_upload_and_keeps_the_predictions(digits, job_for):
    exact = replace(HEAD, precision="float64")
    jobs = {fusion: job_for(fusion) for fusion in (HEAD, exact)}
    scores = [fused(fusion, job, by_class(digits))(digits.images) for fusion, job in jobs.items()]
    torch.testing.assert_close(*scores, atol=1e-2, rtol=1e-2)
    assert torch.equal(scores[0].argmax(1), scores[1].argmax(1))
    sizes = [
        sum(tensor.nbytes for part in fusion.needs for tensor in part.expected(job.blueprint).values())
        for fusion, job in jobs.items()
    ]
    assert sizes[0] == pytest.approx(sizes[1] / 2, rel=0.01)
    assert Moments(Pixels(), "shared") == Moments(Pixels(), "shared", "float64")  # and keeps its name on the wire


def test_confidence_is_honest_from_sums_alone(parts, job_for):
    train, held = parts
    metrics = measure(fused(HEAD, job_for(HEAD), by_class(train))(held.images), held.labels)
    assert metrics.accuracy > 0.95
    assert metrics.calibration_error < 0.03


def test_validation_images_set_the_temperature_and_no_prediction(parts, job_for):
    train, held = parts
    job = job_for(HEAD)
    plain, cooled = (fused(HEAD, job, [train], validation=validation)(held.images) for validation in (None, held))
    assert torch.equal(plain.argmax(1), cooled.argmax(1))
    likelihood = [scores.gather(1, held.labels[:, None]).mean() for scores in (plain, cooled)]
    assert likelihood[1] > likelihood[0]


def test_classes_that_are_far_apart_do_not_freeze_the_temperature(shard_of, job_for, digits):
    """Where every draw is certain, the hottest temperature that is as certain is taken, not the coldest there is."""
    scores = fused(HEAD, job_for(HEAD), [shard_of([0], 90), shard_of([1], 30)])(digits.images[:50])
    assert scores[:, :2].abs().max() < 100


def test_a_prior_shifts_every_score_of_a_class_alike(shard_of, job_for, digits):
    head = replace(HEAD, solver=Discriminant())  # at temperature 1
    job = job_for(head)
    shard = shard_of([0], 90)
    rest = shard_of([1], 30)
    counts, uniform = (fused(replace(head, prior=prior), job, [shard, rest]) for prior in ("counts", "uniform"))
    odds = [scores[:, 0] - scores[:, 1] for scores in (counts(digits.images[:50]), uniform(digits.images[:50]))]
    torch.testing.assert_close(odds[0] - odds[1], torch.full((50,), 3.0).log(), atol=1e-3, rtol=0)


@pytest.mark.parametrize("labels", [[4], [2, 7]])
@pytest.mark.parametrize("each", [1, 2, 25])
def test_classes_nobody_has_seen_never_win_and_few_images_are_enough(labels, each, shard_of, job_for, digits):
    scores = fused(HEAD, job_for(HEAD), [shard_of(labels, each)])(digits.images[:60])
    assert torch.isfinite(scores).all()
    assert set(scores.argmax(1).tolist()) <= set(labels)


def test_fewer_images_than_features_are_learned_from_all_the_same(shard_of, job_for, digits):
    """With 120 images and 512 features the smallest strengths fit rounding: to choose one loses everything."""
    head = LinearHeadFusion(RandomFilters(64))
    predictor = fused(head, job_for(head), [shard_of([0, 1, 2], 40)])
    known = digits.labels < 3
    rest = digits.select(known.nonzero()[150:, 0])
    assert float((predictor(rest.images).argmax(1) == rest.labels).double().mean()) > 0.95
