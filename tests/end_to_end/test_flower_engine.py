"""Flower's simulation runs the same clients: what it brings home is what the local engine brings, byte for byte."""

import os
import sys
from collections import Counter
from dataclasses import replace
from multiprocessing import get_context

import pytest

from mooring import load, run_experiment
from mooring.events import ClientRecord, ClientStarted, EpochRecord
from mooring.processes._starting import without_main
from mooring.record import RunFolder, events_in, events_text

SMALL = ("method=v7", "data.limit=150", "partition.clients=3", "training.rounds=2", "training.local_epochs=1")


def told(folder):
    """What clients told, in whatever order they ended, without what a clock measured."""
    events = [timed.event for timed in RunFolder(folder).events]
    timeless = (replace(event, seconds=None) if isinstance(event, ClientRecord) else event for event in events)
    return Counter(repr(event) for event in timeless if isinstance(event, ClientStarted | EpochRecord | ClientRecord))


def uploads(folder):
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "uploads").rglob("*.safetensors")}


def run_by_flower(folder):
    """In a process of its own, because Ray leaves threads and handlers of signals behind.

    A cluster that the environment names, and that is not there, is none of its business.
    """
    os.environ["RAY_ADDRESS"] = "127.0.0.1:9"
    [experiment] = load(overrides=[*SMALL, "engine=flower", "engine.workers=2", f"out={folder}"])
    run_experiment(experiment)


def test_uploads_events_and_result_of_the_simulation_are_those_of_the_local_engine(tmp_path, forking):
    pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")
    there, here = tmp_path / "flower", tmp_path / "local"
    process = get_context("forkserver").Process(target=run_by_flower, args=(there,))
    with without_main():
        process.start()
    process.join()
    assert process.exitcode == 0
    [experiment] = load(overrides=[*SMALL, "engine.workers=1", f"out={here}"])
    result = run_experiment(experiment)
    assert len(uploads(there)) == 6
    assert uploads(there) == uploads(here)
    assert told(there) == told(here)
    assert RunFolder(there).result.accuracy == result.accuracy
    assert RunFolder(there).result.complete


def test_without_the_extra_one_line_says_what_to_install(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "flwr", None)
    code, _, err = cli("run", *SMALL, "engine=flower", "out=a")
    assert code == 2
    assert "error: engine=flower: Flower is not installed; pip install 'mooring[flower]'" in err


def test_events_survive_a_journey_as_text():
    events = (ClientStarted(2, 40, 8, 64, None), EpochRecord(2, 0, 1, {"cross-entropy": 0.1 + 0.2}, None))
    assert tuple(timed.event for timed in events_in(events_text(events), "a journey")) == events
