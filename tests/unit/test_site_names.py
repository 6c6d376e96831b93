"""Whoever holds images has a name, from the folder to the result."""

import os
import re

import numpy as np
import pytest
from source_files import write_images

from mooring import load, run_experiment
from mooring.cli.progress import warning
from mooring.data._clients import federate
from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import recognise
from mooring.data._partition import Dirichlet, Sites
from mooring.data._sites import site_names
from mooring.errors import DataError
from mooring.events import ClientStarved, PartitionDrawn
from mooring.record import RunFolder

HELD = {"St. Mary's": {"cat": 5, "dog": 5}, "north": {"dog": 10}, "south": {"cat": 10}}


@pytest.fixture
def hospitals(tmp_path):
    """Three sites, each with a folder per class."""
    for site, classes in HELD.items():
        for label, count in classes.items():
            write_images(tmp_path / "images" / site / label, count)
    return tmp_path / "images"


def test_natural_sites_keep_their_names_and_their_images(hospitals):
    federation = federate(ImageFolder(str(hospitals), size=8), Sites(), seed=1)
    sites = federation.sites()
    assert [(site.name, site.number) for site in sites] == [(name, k) for k, name in enumerate(sorted(HELD))]
    for site in sites:
        images = site.shard()
        assert site.size == len(images)
        assert set(images.sites) == {site.name}
        assert {images.classes[label] for label in images.labels.tolist()} == set(HELD[site.name])


def test_who_has_sites_means_them_unless_another_division_is_asked_for(hospitals, tmp_path):
    settings = ["data.source=image_folder", f"data.root={hospitals}"]
    assert load(overrides=settings)[0].partition == Sites()
    assert load(overrides=[*settings, "partition.clients=2"])[0].partition == Dirichlet(2)
    assert load(overrides=[*settings, "data.layout=tree"])[0].partition == Dirichlet()
    assert load(overrides=[*settings[:1], f"data.root={tmp_path / 'nowhere'}"])[0].partition == Dirichlet()


@pytest.mark.parametrize("sites", [True, False])
def test_arrays_with_sites_are_divided_by_them(tmp_path, sites):
    part = {"images": np.zeros((4, 8, 8), np.uint8), "labels": np.array([0, 1, 0, 1])}
    arrays = {f"{name}_{key}": value for name in ("train", "test") for key, value in part.items()}
    named = {"train_sites": np.array(["north", "north", "south", "south"])} if sites else {}
    np.savez(tmp_path / "own.npz", **arrays, **named)
    [experiment] = load(overrides=["data.source=arrays", f"data.root={tmp_path / 'own.npz'}"])
    assert experiment.partition == (Sites() if sites else Dirichlet())
    (tmp_path / "own.npz").write_bytes(b"no zip")
    assert not experiment.data.has_sites()
    (tmp_path / "own.npz").unlink()
    os.mkfifo(tmp_path / "own.npz")
    assert not experiment.data.has_sites(), "nobody waits for a pipe"


def test_clients_that_share_the_images_of_a_site_go_by_number(hospitals):
    federation = federate(ImageFolder(str(hospitals), size=8), Dirichlet(clients=2, alpha=100.0), seed=1)
    assert [site.name for site in federation.sites()] == ["client 0", "client 1"]
    assert [site.name for site in federation.pooled().sites()] == ["client 0"]


@pytest.mark.parametrize(
    ("owners", "indices", "names"),
    [
        (None, [[0, 1], [2]], ("client 0", "client 1")),
        (("b", "b", "a"), [[0, 1], [2]], ("b", "a")),
        (("b", "b", "a"), [[0], [1], [2]], ("client 0", "client 1", "client 2")),  # two hold images of b
        (("b", "b", "a"), [[0, 1], [2], []], ("client 0", "client 1", "client 2")),  # nobody knows whose the last is
    ],
)
def test_a_name_belongs_to_one_client_alone(owners, indices, names):
    assert site_names(owners, [np.array(own, dtype=np.int64) for own in indices]) == names


def test_a_run_tells_the_names_of_its_sites_from_the_first_event_to_the_result(hospitals, tmp_path):
    settings = ["method=afl", "data.source=image_folder", f"data.root={hospitals}", "data.size=16"]
    more = ["partition.kind=sites", "engine.workers=1", f"out={tmp_path / 'run'}"]
    [experiment] = load(overrides=[*settings, *more])
    heard = []
    result = run_experiment(experiment, heard.append)
    [drawn] = [event for event in heard if isinstance(event, PartitionDrawn)]
    names = tuple(sorted(HELD))
    assert drawn.sites == names
    assert drawn.summary == result.partition
    assert [(site.number, site.name, site.images) for site in result.sites] == [(k, n, 8) for k, n in enumerate(names)]
    assert [upload.site for upload in result.uploads] == list(names)
    assert result.classes == ("cat", "dog")
    assert [client.site for client in RunFolder(tmp_path / "run").record.clients] == list(names)


def test_the_terminal_names_sites_and_classes(cli, hospitals):
    words = ["data=image_folder", f"data.root={hospitals}", "data.size=16", "partition=sites"]
    code, out, _ = cli("partition", *words, "method=v7", "model.width=0.01")  # no model is asked
    assert code == 0
    assert out.splitlines()[1].split()[:3] == ["client", "cat", "dog"]
    assert [line[:10].strip() for line in out.splitlines()[2:5]] == ["St. Mary's", "north", "south"]
    code, out, _ = cli("doctor", "method=v7", *words, "training.rounds=1", "training.local_epochs=1")
    assert code == 0
    assert "St. Mary's" in out


def test_progress_speaks_of_sites_by_name():
    starved = ClientStarved(1, "has no images")
    assert warning(starved, ("north", "south")) == "warning: south: has no images"
    assert warning(starved) == "warning: client 1: has no images"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (["1.png"], "holds 1 images and no folders of classes, such as 1.png; put the images of each class"),
        (["a/b/c/d/1.png", "a/b/x/e/2.png"], "its 2 images lie 4 folders deep, such as a/b/c/d/1.png; set data.root="),
        (["n/dog/x/1.png", "n/dog/y/2.png"], "n/dog if x is a class, else put the images of each class into "),
        (["Training/cat/1.png", "Testing/cat/2.png"], "has Training/ and Testing/; rename them to train/ and test/"),
        (["labels.csv"], "but 1 .csv"),
    ],
)
def test_an_unexpected_layout_is_answered_with_what_was_found_and_what_would_work(tmp_path, files, told):
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).touch()
    with pytest.raises(DataError, match=re.escape(told)):
        recognise(tmp_path)
