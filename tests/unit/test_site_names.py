"""Whoever holds images has a name, from the folder to the result."""

import numpy as np
import pytest
from source_files import write_images

from mooring import load, run
from mooring.data.clients import federate
from mooring.data.image_folder import ImageFolder
from mooring.data.partition import Dirichlet, Sites
from mooring.data.sites import site_names
from mooring.events import PartitionDrawn
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
    result = run(experiment, heard.append)
    [drawn] = [event for event in heard if isinstance(event, PartitionDrawn)]
    names = tuple(sorted(HELD))
    assert drawn.sites == names
    assert drawn.summary == result.partition
    assert [(site.number, site.name, site.images) for site in result.sites] == [(k, n, 8) for k, n in enumerate(names)]
    assert [upload.site for upload in result.uploads] == list(names)
    assert result.classes == ("cat", "dog")
    assert [client.site for client in RunFolder(tmp_path / "run").record.clients] == list(names)
