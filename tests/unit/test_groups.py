"""Images of one patient stay together: in training or in testing, in validation or not, at one client."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from PIL import Image

from mooring.data._clients import federate
from mooring.data._image_folder import ImageFolder
from mooring.data._images import ImageSet, Source
from mooring.data._partition import Dirichlet, DirichletEqual, Iid, Partitioner, Pathological, Sites
from mooring.data._partition.base import take_groups
from mooring.errors import ConfigError, DataError, PartitionError

PATTERN = r"(p\d+)_"
SCANS, PATIENTS, CLASSES = 5, 12, 3


def write_patients(root: Path, patients: int, scans: int = 3, label: str = "a") -> None:
    (root / label).mkdir(parents=True)
    for patient in range(patients):
        for scan in range(scans):
            Image.new("L", (8, 8), (20 * patient + 80 * scan) % 256).save(root / label / f"p{patient}_{scan}.png")


def folder(root: Path, **fields: object) -> ImageFolder:
    return ImageFolder(str(root), **{"size": 8, "channels": 1, **fields})  # type: ignore[arg-type]


def named(images: ImageSet) -> set[str]:
    assert images.groups is not None
    assert len(images.groups) == len(images)
    return set(images.groups)


@dataclass(frozen=True)
class Scans(Source):
    """Five scans of each of twelve patients of three classes; the patient's number is the pixel."""

    source: ClassVar[str] = "scans"

    def train(self) -> ImageSet:
        patients = torch.arange(SCANS * PATIENTS) // SCANS
        images = patients.to(torch.uint8).view(-1, 1, 1, 1).expand(-1, 1, 8, 8).contiguous()
        names = tuple(f"p{patient}" for patient in patients.tolist())
        return ImageSet(images, patients % CLASSES, ("x", "y", "z"), groups=names)

    def test(self) -> ImageSet:
        return self.train()


def patients_of(images: ImageSet) -> set[int]:
    return set(images.images[:, 0, 0, 0].tolist())


def test_no_patient_trains_and_tests(tmp_path: Path) -> None:
    for site, label, patients in (("north", "a", 10), ("north", "b", 5), ("south", "a", 5)):
        write_patients(tmp_path / site, patients, label=label)
    source = folder(tmp_path, group=r"^(\w+)/\w+/(p\d+)_")
    train, test = source.train(), source.test()
    assert "north/p3" in named(train) | named(test)
    assert named(train).isdisjoint(named(test))
    assert len(train) + len(test) == 60
    assert Counter(test.sites or ()).keys() == {"north", "south"}
    assert test.label_counts()[1] > 0
    assert 9 <= len(test) <= 15  # about a fifth, of whole patients


def test_without_groups_the_choice_is_by_file_as_it_was(tmp_path: Path) -> None:
    write_patients(tmp_path, 10)
    alone = folder(tmp_path, group=r"p\d+_\d+")  # every file a group of its own
    plain = folder(tmp_path)
    assert plain.train().groups is None
    assert alone.train().label_counts() == plain.train().label_counts() == (24,)


def test_parent_folders_are_patients_of_their_site(tmp_path: Path) -> None:
    for site in ("north", "south"):
        for label, patient in (("a", "1"), ("a", "2"), ("a", "3"), ("b", "1"), ("b", "2")):
            place = tmp_path / site / label / patient
            place.mkdir(parents=True)
            for scan in range(2):
                Image.new("L", (8, 8), 40 * scan).save(place / f"{scan}.png")
    source = folder(tmp_path, group="parent-folder")
    train, test = source.train(), source.test()
    assert train.classes == ("a", "b")
    assert named(train) | named(test) == {f"{site}/{patient}" for site in ("north", "south") for patient in "123"}
    assert named(train).isdisjoint(named(test))  # patient 1 has images of both classes
    with pytest.raises(DataError, match=r"set data\.layout=tree or sites"):
        folder(tmp_path / "north", group="parent-folder").train()
    alone = folder(tmp_path / "north", group="parent-folder", layout="tree")
    assert alone.train().classes == ("a", "b")
    assert named(alone.train()) | named(alone.test()) == set("123")


def test_a_patient_on_both_sides_of_a_given_cut_is_an_error(tmp_path: Path) -> None:
    for part in ("train", "test"):
        write_patients(tmp_path / part, 2, label="a")
    with pytest.raises(DataError, match=r"data\.group=.*: 2 groups are in train/ and in test/: p0, p1; move"):
        folder(tmp_path, group=PATTERN).train()
    for path in (tmp_path / "test" / "a").iterdir():
        path.rename(path.with_name(path.name.replace("p", "p9", 1)))
    assert named(folder(tmp_path, group=PATTERN).train()) == {"p0", "p1"}


def test_images_without_a_group_and_broken_expressions_are_errors(tmp_path: Path) -> None:
    write_patients(tmp_path, 2)
    with pytest.raises(DataError, match=r"6 of 6 images have no group: .*p0_0\.png.* and 3 more; .*class folder"):
        folder(tmp_path, group="parent-folder").train()
    with pytest.raises(DataError, match=r"data\.group=\(q\): 6 of 6 images have no group"):
        folder(tmp_path, group="(q)").train()
    with pytest.raises(ConfigError, match=r"group=\(p: is not a regular expression .*parent-folder"):
        folder(tmp_path, group="(p")


def test_whole_groups_come_near_what_is_wanted_and_leave_something_of_everything() -> None:
    single = [{"a": 1}] * 5 + [{"b": 1}] * 4
    assert take_groups(single, {"a": 2, "b": 1}) == [0, 1, 5]
    assert take_groups([{"a": 10}, {"a": 2}, {"a": 3}], {"a": 3}) == [1]
    assert take_groups([{"a": 10}, {"a": 9}], {"a": 3}) == [1]  # too large both, and none is too few
    assert take_groups([{"a": 4}], {"a": 1}) == []
    assert take_groups([{"a": 1, "b": 2}, {"a": 1}, {"a": 1}], {"a": 1, "b": 1}) == [1]  # all of b would be gone


def test_validation_and_public_images_are_of_other_patients() -> None:
    federation = federate(Scans(validation=0.2), Iid(clients=2), seed=3, public_ratio=0.25)
    assert federation.validation is not None
    assert federation.public is not None
    parts = [patients_of(part) for part in (federation.validation, federation.public, federation.train)]
    assert sum(map(len, parts)) == len(set.union(*parts)) == PATIENTS
    assert all(federation.validation.label_counts())


@pytest.mark.parametrize(
    "partitioner",
    [
        Iid(clients=4),
        Dirichlet(clients=4, alpha=0.5),
        DirichletEqual(clients=4, alpha=0.5),
        Pathological(clients=4, classes_per_client=2),
    ],
    ids=lambda partitioner: partitioner.kind,
)
def test_a_patient_is_at_one_client(partitioner: Partitioner) -> None:
    federation = federate(Scans(), partitioner, seed=1)
    held = [patients_of(site.shard()) for site in federation.sites()]
    assert sum(map(len, held)) == len(set.union(*held)) == PATIENTS
    assert sum(len(indices) for indices in federation.partition.indices) == SCANS * PATIENTS
    assert all((np.diff(indices) > 0).all() for indices in federation.partition.indices)


def test_more_clients_than_patients_is_an_error_that_says_groups() -> None:
    with pytest.raises(PartitionError, match="more clients than groups: clients = 13, groups = 12"):
        federate(Scans(), Iid(clients=13), seed=1)


def test_sites_keep_their_images_whatever_the_groups(tmp_path: Path) -> None:
    for site in ("north", "south"):
        write_patients(tmp_path / site, 5)
    federation = federate(folder(tmp_path, group=PATTERN), Sites(), seed=1)
    assert [site.name for site in federation.sites()] == ["north", "south"]
