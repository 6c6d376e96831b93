"""Promises of all exact partitioners, over many populations."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mooring.data._partition import (
    PARTITIONERS,
    Dirichlet,
    DirichletEqual,
    DirichletSizes,
    FromFile,
    Iid,
    Partitioner,
    Pathological,
    Population,
    Sites,
    divide,
    export_partition,
)
from mooring.data._partition.base import apportion, log_dirichlet, normalise
from mooring.seeds import numpy_generator

ALPHAS = st.one_of(st.sampled_from([1e-300, 1e-6, 0.05, 1.0, 1e6]), st.floats(1e-3, 1e3))
SEEDS = st.integers(0, 2**32)


@dataclass(frozen=True)
class Case:
    """What an exact partitioner of any kind can be made from."""

    population: Population
    clients: int
    alpha: float
    seed: int


@st.composite
def cases(draw: st.DrawFn) -> Case:
    classes = draw(st.integers(1, 8))
    labels = draw(st.lists(st.integers(0, classes - 1), min_size=1, max_size=120))
    sites = tuple(f"site-{label * 7 % 3}" for label in range(len(labels)))
    clients = draw(st.integers(1, min(12, len(labels))))
    return Case(Population(np.array(labels), classes, sites), clients, draw(ALPHAS), draw(SEEDS))


def pathological(case: Case) -> Pathological:
    counts = case.population.label_counts()
    fewest = -(-int((counts > 0).sum()) // case.clients)
    assume(case.clients * fewest <= np.minimum(counts, case.clients).sum())
    return Pathological(clients=case.clients, classes_per_client=fewest)


MAKERS: dict[str, Callable[[Case], Partitioner]] = {
    "dirichlet": lambda case: Dirichlet(clients=case.clients, alpha=case.alpha),
    "dirichlet_equal": lambda case: DirichletEqual(clients=case.clients, alpha=case.alpha),
    "dirichlet_sizes": lambda case: DirichletSizes(clients=case.clients, alpha=case.alpha),
    "iid": lambda case: Iid(clients=case.clients),
    "pathological": pathological,
    "sites": lambda case: Sites(),
}
RANDOM = sorted(set(MAKERS) - {"sites"})
QUICK = settings(max_examples=60, deadline=None)


def test_no_exact_partitioner_is_forgotten() -> None:
    assert set(MAKERS) | {"file", "fafi_overlap"} == set(PARTITIONERS)


@pytest.mark.parametrize("kind", MAKERS)
@QUICK
@given(case=cases())
def test_every_image_is_at_exactly_one_client(kind: str, case: Case) -> None:
    partition = divide(MAKERS[kind](case), case.population, case.seed)
    assert np.sort(np.concatenate(partition.indices)).tolist() == list(range(len(case.population)))
    assert (partition.overlap, partition.coverage) == (1.0, 1.0)
    for client in partition.indices:
        assert client.dtype == np.int64
        assert (np.diff(client) > 0).all()


@pytest.mark.parametrize("kind", MAKERS)
@QUICK
@given(case=cases())
def test_statistics_are_those_of_the_images(kind: str, case: Case) -> None:
    partition = divide(MAKERS[kind](case), case.population, case.seed)
    for client, counts, size in zip(partition.indices, partition.counts, partition.sizes, strict=True):
        held = case.population.labels[client].tolist()
        assert counts.tolist() == [held.count(c) for c in range(case.population.classes)]
        assert size == len(held)
    assert ((partition.normalised_entropy >= 0) & (partition.normalised_entropy <= 1 + 1e-9)).all()


@pytest.mark.parametrize("kind", MAKERS)
@QUICK
@given(case=cases())
def test_the_same_seed_gives_the_same_partition(kind: str, case: Case) -> None:
    partitioner = MAKERS[kind](case)
    first, second = (divide(partitioner, case.population, case.seed) for _ in range(2))
    assert first.sha256 == second.sha256


@pytest.mark.parametrize("kind", RANDOM)
@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, alpha=ALPHAS)
def test_another_seed_gives_another_partition(kind: str, seed: int, alpha: float) -> None:
    case = Case(Population(np.arange(300) % 10, 10), 5, alpha, seed)
    first, second = (divide(MAKERS[kind](case), case.population, s) for s in (seed, seed + 1))
    assert first.sha256 != second.sha256


@QUICK
@given(case=cases())
def test_dirichlet_counts_are_the_drawn_proportions_rounded(case: Case) -> None:
    shape = (case.population.classes, case.clients)
    drawn = normalise(log_dirichlet(case.alpha, shape, numpy_generator(case.seed, "partition")))
    counts = divide(MAKERS["dirichlet"](case), case.population, case.seed).counts
    assert (np.abs(counts.T - drawn * case.population.label_counts()[:, None]) < 1).all()


@QUICK
@given(case=cases(), data=st.data())
def test_min_size_is_reached_and_nothing_is_lost(case: Case, data: st.DataObject) -> None:
    min_size = data.draw(st.integers(0, len(case.population) // case.clients))
    partitioner = Dirichlet(clients=case.clients, alpha=case.alpha, min_size=min_size)
    partition = divide(partitioner, case.population, case.seed)
    assert partition.sizes.min() >= min_size
    assert (partition.counts.sum(axis=0) == case.population.label_counts()).all()


@pytest.mark.parametrize("kind", ["dirichlet_equal", "iid"])
@QUICK
@given(case=cases())
def test_equal_means_equal_to_one_image(kind: str, case: Case) -> None:
    assert np.ptp(divide(MAKERS[kind](case), case.population, case.seed).sizes) <= 1


@QUICK
@given(case=cases())
def test_pathological_clients_hold_exactly_n_classes_in_even_shards(case: Case) -> None:
    partitioner = pathological(case)
    partition = divide(partitioner, case.population, case.seed)
    assert (partition.classes_per_client == partitioner.classes_per_client).all()
    for c in np.unique(case.population.labels):
        shards = partition.counts[:, c]
        assert np.ptp(shards[shards > 0]) <= 1


@QUICK
@given(case=cases(), total=st.integers(0, 10**6))
def test_apportioned_numbers_are_whole_complete_and_near(case: Case, total: int) -> None:
    rows = normalise(log_dirichlet(case.alpha, (4, case.clients), numpy_generator(case.seed)))
    totals = np.array([total, 0, 1, total // 2])
    whole = apportion(rows, totals)
    assert (whole.sum(axis=1) == totals).all()
    assert (np.abs(whole - rows * totals[:, None]) < 1).all()
    assert (whole >= 0).all()


@pytest.mark.parametrize("kind", MAKERS)
@settings(max_examples=10, deadline=None)
@given(case=cases())
def test_every_exact_partition_survives_a_file(kind: str, case: Case, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("partition") / "clients.json"
    partition = divide(MAKERS[kind](case), case.population, case.seed)
    export_partition(partition, path)
    again = divide(FromFile(str(path)), case.population, case.seed + 1)
    assert again.sha256 == partition.sha256
    assert again.summary() == partition.summary()
