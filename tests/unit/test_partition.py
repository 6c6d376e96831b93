import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from mooring.data._partition import (
    PARTITIONERS,
    Dirichlet,
    DirichletEqual,
    DirichletSizes,
    FafiOverlap,
    FromFile,
    Iid,
    Partition,
    Partitioner,
    PartitionWarning,
    Pathological,
    Population,
    Sites,
    divide,
    export_partition,
)
from mooring.errors import PartitionError
from mooring.schema import from_tree, record_tree
from mooring.types import PartitionSummary

DIGITS = Population(np.arange(1437) % 10, 10)
HUNDRED_CLASSES = Population(np.random.default_rng(0).integers(0, 100, 50_000), 100)
FOUR = Population(np.array([0, 0, 1, 1]), 2, ("b", "a", "b", "a"))


def by_hand(*clients: list[int], labels: list[int], classes: int) -> Partition:
    return Partition.of([np.array(client, dtype=np.int64) for client in clients], Population(np.array(labels), classes))


def test_every_kind_is_registered_under_its_own_name() -> None:
    exact: list[Partitioner] = [Dirichlet(), DirichletEqual(), Iid(), Pathological(), Sites(), FromFile("clients.json")]
    made = [*exact, DirichletSizes(), FafiOverlap()]
    assert {partitioner.kind: type(partitioner) for partitioner in made} == PARTITIONERS
    assert list(PARTITIONERS) == sorted(PARTITIONERS)


def test_statistics_by_hand() -> None:
    labels = [0, 0, 0, 0, 1, 1, 2, 3]
    partition = by_hand([0, 1, 4, 5], [2, 3], [6, 7, 4, 0], [], labels=labels, classes=4)
    assert partition.counts.tolist() == [[2, 2, 0, 0], [2, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 0]]
    assert partition.sizes.tolist() == [4, 2, 4, 0]
    assert partition.classes_per_client.tolist() == [2, 1, 4, 0]
    assert partition.entropy.tolist() == [1.0, 0.0, 2.0, 0.0]
    assert partition.normalised_entropy.tolist() == [0.5, 0.0, 1.0, 0.0]
    assert partition.size_variation == pytest.approx(2.75**0.5 / 2.5)
    assert partition.overlap == 10 / 8
    assert partition.coverage == 1.0


def test_entropy_of_a_quarter_is_as_computed_by_hand() -> None:
    partition = by_hand([0, 1, 2, 3], labels=[0, 1, 1, 1], classes=10)
    assert partition.entropy[0] == pytest.approx(0.811278, abs=1e-6)
    assert partition.normalised_entropy[0] == pytest.approx(0.811278 / 3.321928, abs=1e-6)


def test_images_at_no_client_lower_the_coverage_only() -> None:
    partition = by_hand([0], [1], labels=[0, 0, 0, 1], classes=2)
    assert (partition.coverage, partition.overlap, partition.size_variation) == (0.5, 1.0, 0.0)


def test_one_class_or_no_image_has_no_entropy() -> None:
    assert by_hand([0, 1], labels=[0, 0], classes=1).normalised_entropy.tolist() == [0.0]
    empty = by_hand([], [], labels=[0, 0], classes=1)
    assert (empty.overlap, empty.coverage, empty.size_variation) == (1.0, 0.0, 0.0)


def test_hash_sees_the_population_the_clients_and_their_order_but_not_the_order_of_indices() -> None:
    def of(*clients: list[int], labels: int = 4) -> str:
        return by_hand(*clients, labels=[0] * labels, classes=1).sha256

    assert of([0, 1], [2, 3]) == of([1, 0], [3, 2])
    variants = [of([0, 1], [2, 3]), of([2, 3], [0, 1]), of([0], [1, 2, 3]), of([0, 1], [2, 3], []), of([0, 1, 2, 3])]
    assert len({*variants, of([0, 1], [2, 3], labels=5)}) == 6


def test_hash_stays_what_it_was() -> None:
    # sha256 of <4, 2, 2, 0, 1, 2, 2, 3> as little-endian int64
    expected = "e2f08df121e69f461108f26a957a997ef2eea5dbbbc7ec63541a500be0ff457c"
    assert by_hand([0, 1], [2, 3], labels=[0] * 4, classes=1).sha256 == expected


def test_summary_is_plain_json() -> None:
    summary = divide(Dirichlet(), DIGITS, seed=0).summary()
    tree = json.loads(json.dumps(asdict(summary), allow_nan=False))
    assert tree == record_tree(summary)
    assert from_tree(PartitionSummary, tree) == summary
    assert summary.clients == 5


@pytest.mark.parametrize("alpha", [5e-324, 1e-300, 1e-6])
def test_tiny_alpha_gives_each_class_to_one_client(alpha: float) -> None:
    counts = divide(Dirichlet(alpha=alpha), DIGITS, seed=1).counts
    assert ((counts > 0).sum(axis=0) == 1).all()
    assert (counts.sum(axis=0) == DIGITS.label_counts()).all()


@pytest.mark.parametrize("alpha", [1e6, 1e300, 1.7e308])
def test_huge_alpha_divides_evenly(alpha: float) -> None:
    assert np.ptp(divide(Dirichlet(alpha=alpha), DIGITS, seed=1).counts, axis=0).max() <= 1
    assert divide(DirichletEqual(alpha=alpha), DIGITS, seed=1).normalised_entropy.min() > 0.99


def test_min_size_moves_no_more_images_than_are_missing() -> None:
    drawn, filled = (divide(Dirichlet(alpha=0.01, min_size=size), DIGITS, seed=3).counts for size in (0, 250))
    missing = np.maximum(250 - drawn.sum(axis=1), 0).sum()
    assert missing > 0
    assert np.abs(drawn - filled).sum() == 2 * missing


def test_min_size_can_take_every_image() -> None:
    assert set(divide(Dirichlet(clients=3, min_size=479), DIGITS, seed=0).sizes.tolist()) == {479}


def test_pathological_with_clients_to_spare_keeps_shards_as_equal_as_can_be() -> None:
    counts = divide(Pathological(clients=6, classes_per_client=2), DIGITS, seed=0).counts  # 12 shards, 10 classes
    assert sorted((counts > 0).sum(axis=0).tolist()) == [1] * 8 + [2] * 2


def test_pathological_cuts_the_large_class_first() -> None:
    population = Population(np.array([0] * 90 + [1] * 10), 2)
    counts = divide(Pathological(clients=4, classes_per_client=1), population, seed=0).counts
    assert sorted(map(tuple, counts.tolist())) == [(0, 10), (30, 0), (30, 0), (30, 0)]


def test_pathological_gives_one_client_everything() -> None:
    assert divide(Pathological(clients=1, classes_per_client=10), DIGITS, seed=0).sizes.tolist() == [1437]


def test_sites_are_clients_in_alphabetical_order() -> None:
    assert [client.tolist() for client in divide(Sites(), FOUR, seed=0).indices] == [[1, 3], [0, 2]]


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.3, 0.5])
def test_fafi_overlap_is_as_large_as_published_and_says_so(alpha: float) -> None:
    with pytest.warns(PartitionWarning, match="several clients"):
        partitions = [divide(FafiOverlap(alpha=alpha), DIGITS, seed) for seed in range(20)]
    assert 1.4 < np.mean([partition.overlap for partition in partitions]) < 3.6
    # With 5 clients someone's share is at least 1/5, ten times of which is the whole class.
    assert all((partition.counts.max(axis=0) == DIGITS.label_counts()).all() for partition in partitions)
    assert all(len(np.unique(client)) == len(client) for partition in partitions for client in partition.indices)


@pytest.mark.parametrize(
    "partitioner",
    [
        Dirichlet(clients=1000),
        Dirichlet(clients=1000, alpha=1e-6, min_size=50),
        DirichletEqual(clients=1000),
        Pathological(clients=1000),
        Iid(clients=1000),
    ],
    ids=lambda partitioner: partitioner.kind,
)
def test_a_thousand_clients_share_a_hundred_classes(partitioner: Partitioner) -> None:
    partition = divide(partitioner, HUNDRED_CLASSES, seed=0)
    assert len(partition.sizes) == 1000
    assert partition.sizes.sum() == 50_000


@pytest.mark.parametrize(
    ("partitioner", "population", "problem", "remedy"),
    [
        (Iid(clients=5), FOUR, "more clients than images: clients = 5, images = 4", "at most 4"),
        (Dirichlet(clients=5), FOUR, "more clients than images", "at most 4"),
        (DirichletEqual(clients=5), FOUR, "more clients than images", "at most 4"),
        (Pathological(clients=5), FOUR, "more clients than images", "at most 4"),
        (FafiOverlap(clients=5), FOUR, "more clients than images", "at most 4"),
        (Iid(clients=1), Population(np.array([], dtype=np.int64), 2), "more clients than images", "with images"),
        (Dirichlet(min_size=288), DIGITS, "min_size = 288 for 5 clients needs 1440 images", "min_size <= 287"),
        (Pathological(classes_per_client=11), DIGITS, "only 10 classes have images", "at most 10"),
        (Pathological(clients=4), DIGITS, "8 shards cannot hold 10 classes", "classes_per_client >= 3"),
        (Pathological(clients=3), Population(np.array([0, 0, 1]), 2), "images for 3 only", "fewer clients"),
        (Sites(), DIGITS, "which site an image belongs to", "image_folder source with one folder per site"),
        (FafiOverlap(clients=1), Population(np.array([1, 1]), 2), "class 0, which has no images", "dirichlet"),
    ],
)
def test_impossible_divisions_name_the_problem_and_the_remedy(
    partitioner: Partitioner, population: Population, problem: str, remedy: str
) -> None:
    with pytest.raises(PartitionError) as caught:
        divide(partitioner, population, seed=0)
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_file_round_trip_keeps_the_hash_and_replaces_an_older_file(tmp_path: Path) -> None:
    path = tmp_path / "clients.json"
    path.write_text("older")
    partition = divide(Dirichlet(alpha=0.01), DIGITS, seed=0)
    export_partition(partition, path)
    assert divide(FromFile(str(path)), DIGITS, seed=9).sha256 == partition.sha256
    assert list(tmp_path.iterdir()) == [path]


def test_file_by_hand_needs_no_hash_no_order_and_not_every_image(tmp_path: Path) -> None:
    path = tmp_path / "clients.json"
    path.write_text('{"format": 1, "samples": 4, "clients": [[3, 0], [], [1]]}')
    assert [client.tolist() for client in divide(FromFile(str(path)), FOUR, seed=0).indices] == [[0, 3], [], [1]]


def write(**changes: object) -> str:
    return json.dumps({"format": 1, "samples": 4, "clients": [[0, 1], [2, 3]], **changes})


@pytest.mark.parametrize(
    ("content", "problem", "remedy"),
    [
        ("clients: 5", "is not JSON", "export"),
        ("[" * 100_000, "is not JSON", "export"),
        ("\xff", "is not JSON", "export"),
        ("[[0, 1], [2, 3]]", "is not of format 1", "export"),
        (write(format=2), "is not of format 1", "export"),
        ('{"format": 1, "clients": [[0]]}', "has no 'samples'", "samples"),
        ('{"format": 1, "samples": 4}', "has no 'clients'", "clients"),
        (write(sha265="0"), "unknown key 'sha265'", "did you mean 'sha256'?"),
        (write(samples=5), "is for samples = 5, the training data has 4 images", "limit"),
        (write(clients=[]), "has no list of clients", "one list per client"),
        (write(clients=[0, 1]), "has no list of clients", "one list per client"),
        (write(clients=[[0, 1], [1, 2]]), "image 1 twice, at client 0 and at client 1", "remove one"),
        (write(clients=[[0, 0]]), "image 0 twice, at client 0 and at client 0", "remove one"),
        (write(clients=[[0, 4]]), "index 4 at client 0", "from 0 to 3"),
        (write(clients=[[0], [-1]]), "index -1 at client 1", "from 0 to 3"),
        (write(clients=[[True]]), "index True at client 0", "from 0 to 3"),
        (write(clients=[[0.5]]), "index 0.5 at client 0", "from 0 to 3"),
        (write(clients=[[10**30]]), "at client 0", "from 0 to 3"),
        (write(sha256="0"), "has sha256 = '0'", "restore"),
    ],
)
def test_wrong_files_name_the_file_the_problem_and_the_remedy(
    tmp_path: Path, content: str, problem: str, remedy: str
) -> None:
    path = tmp_path / "clients.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(PartitionError) as caught:
        divide(FromFile(str(path)), FOUR, seed=0)
    assert str(path) in caught.value.problem
    assert problem in caught.value.problem
    assert remedy in caught.value.remedy


def test_missing_file_and_missing_folder_are_the_users_mistakes(tmp_path: Path) -> None:
    with pytest.raises(PartitionError, match=r"cannot be read .* check the path"):
        divide(FromFile(str(tmp_path / "none.json")), FOUR, seed=0)
    with pytest.raises(PartitionError, match=r"cannot write .* choose another folder"):
        export_partition(divide(Iid(clients=2), FOUR, seed=0), tmp_path / "none" / "clients.json")


def test_failed_export_leaves_the_older_file_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(PartitionError, match="cannot write"):
        export_partition(divide(Iid(clients=2), FOUR, seed=0), tmp_path / "folder")
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_overlapping_partitions_are_not_exported(tmp_path: Path) -> None:
    with pytest.raises(PartitionError, match="overlapping"):
        export_partition(by_hand([0, 1], [1], labels=[0, 0], classes=1), tmp_path / "clients.json")
    assert not list(tmp_path.iterdir())
