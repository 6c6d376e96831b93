"""A client in Flower's simulation that is asked to stop sends its state home, and goes on from it to the same bytes."""

from dataclasses import dataclass, field

import pytest

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from mooring import load
from mooring.client import run_client
from mooring.engines.flower._clients import Parcel, StopFiles, train_client
from mooring.events import silent
from mooring.execution._prepare import prepare
from mooring.uploads._codec import decode_tensors, encode

SMALL = ("method=v7", "data.limit=120", "partition.clients=2", "training.rounds=3", "training.local_epochs=1")


@dataclass
class StatesInMemory:
    kept: dict = field(default_factory=dict)

    def last(self, client):
        return self.kept.get(client)

    def keep(self, client, tensors):
        self.kept[client] = tensors


def test_a_stopped_client_goes_on_to_the_same_uploads(tmp_path):
    [experiment] = load(overrides=[*SMALL, "training.snapshots=all"])
    federation, job = prepare(experiment)
    site = next(site for site in federation.sites() if site.size)
    states, asked, free = StatesInMemory(), StopFiles(tmp_path / "asked"), StopFiles(tmp_path / "free")
    asked.folder.mkdir()
    asked.ask()
    parcel = Parcel(job, {site.number: site}, states)
    stopped = train_client(parcel, site.number, asked)
    assert len(stopped.uploads) < 3
    states.keep(site.number, decode_tensors(stopped.state, what="state")[1])
    rest = train_client(parcel, site.number, free)
    assert {**stopped.uploads, **rest.uploads} == {str(u.round): encode(u) for u in run_client(job, site, silent)}


def test_nobody_begins_once_all_are_asked_to_stop(tmp_path):
    files = StopFiles(tmp_path)
    assert files.begin(0)
    files.ask()
    assert not files.begin(1)
    assert files.begun().keys() == {0, 1}
