"""Ctrl-C in a method that only adds up statistics keeps finished clients and the sums so far, and says so."""

import os
import signal
from datetime import UTC, datetime

import pytest
from federated import Federated, write_sites

from mooring import load, run_experiment
from mooring.cli.progress import kept, kept_at_site, resumed
from mooring.client import run_client
from mooring.data import ImageSet, InMemorySite
from mooring.events import ClientResumed, ClientStarted, Remark, RunInterrupted, RunResumed
from mooring.execution import prepare

SETTINGS = ["method=mooring", "fusion.map.filters=16", "partition=iid", "partition.clients=2", "engine.workers=1"]


@pytest.fixture
def heard():
    """Ctrl-C as in a terminal; a suite that runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def experiment(folder, *more):
    return load(overrides=[*SETTINGS, *more, f"out={folder}"])[0]


def uploads(folder):
    return {path.name: path.read_bytes() for path in (folder / "uploads").rglob("*.safetensors")}


def interrupt_at(client):
    """Ctrl-C as soon as this client begins."""

    def listen(event):
        if isinstance(event, ClientStarted) and event.client == client:
            os.kill(os.getpid(), signal.SIGINT)

    return listen


@pytest.mark.usefixtures("heard")
@pytest.mark.parametrize("privacy", [(), ("fusion.privacy=gaussian-noise", "fusion.privacy.epsilon=9")])
def test_ctrl_c_keeps_finished_clients_and_partial_sums(tmp_path, privacy):
    whole, folder = tmp_path / "whole", tmp_path / "run"
    run_experiment(experiment(whole, *privacy))
    with pytest.raises(RunInterrupted) as found:
        run_experiment(experiment(folder, *privacy), interrupt_at(1))
    assert (found.value.kept.clients, found.value.kept.done) == (2, 1)
    (place,) = found.value.kept.on_the_way
    assert (place.client, place.step) == (1, 256)  # one batch of its 700 images
    heard = []
    run_experiment(experiment(folder, *privacy), heard.append)
    assert [event for event in heard if isinstance(event, RunResumed | ClientResumed)] == [found.value.kept, place]
    assert [event.client for event in heard if isinstance(event, ClientStarted)] == [1]
    if not privacy:  # a simulation draws fresh noise
        assert uploads(folder) == uploads(whole)


@pytest.mark.usefixtures("heard")
def test_sums_of_other_images_are_not_continued(tmp_path):
    federation, job = prepare(experiment(tmp_path / "run"))
    shard = federation.sites()[0].shard()

    class Notes:
        state = None

        def last(self):
            return self.state

        def due(self, step):
            return self.state is None

        def stopping(self):
            return False

        def keep(self, tensors):
            self.state = dict(tensors) if "content" in tensors else self.state

    notes, heard = Notes(), []
    (whole,) = run_client(job, InMemorySite(0, shard), heard.append, notes)
    other = ImageSet(255 - shard.images, shard.labels, shard.classes)
    (again,) = run_client(job, InMemorySite(0, other), heard.append, notes)
    assert any(isinstance(event, Remark) and "images have changed" in event.text for event in heard)
    (fresh,) = run_client(job, InMemorySite(0, other), heard.append)
    assert all(again.tensors[name].equal(fresh.tensors[name]) for name in fresh.tensors)
    assert not all(again.tensors[name].equal(whole.tensors[name]) for name in fresh.tensors)


@pytest.mark.usefixtures("heard")
def test_ctrl_c_at_a_site_keeps_the_sums(tmp_path):
    write_sites(tmp_path / "images", {"north": (150, 140, 0, 0)}, side=16)
    federated, now = Federated(tmp_path), datetime.now(UTC)
    ways = {"allow_small": True, "now": now}
    whole = federated.train("north", name="whole.mooring", **ways).read_bytes()
    with pytest.raises(RunInterrupted) as found:
        federated.train("north", emit=interrupt_at(0), **ways)
    assert kept_at_site(found.value, "image") == "kept: 256 images of north; "
    assert not (tmp_path / "north.mooring").exists()
    heard = []
    assert federated.train("north", emit=heard.append, **ways).read_bytes() == whole
    assert [event.step for event in heard if isinstance(event, ClientResumed)] == [256]
    assert not list((federated.log("north").home / "training").iterdir())


def test_messages_say_what_is_kept_in_images():
    stopped = RunResumed(4, 2, (ClientResumed(3, 0, 1240),))
    assert kept(stopped, ("a", "b", "c", "north"), "image") == "kept: 2 of 4 clients are done, north after 1,240 images"
    said = "goes on: 2 of 4 clients are done, client 3 goes on after 1,240 images, 1 begins"
    assert resumed(stopped, 1, (), "image") == said
