"""A loss of power takes the last lines of events.jsonl, and files of the last second: no result depends on them."""

import random
import shutil

import pytest
from disturbance import same

from mooring import load, run_experiment
from mooring.events import ClientRecord
from mooring.record import RunFolder

SMALL = ["data.limit=120", "partition.clients=2", "training.rounds=3", "training.local_epochs=1", "engine.workers=1"]


class PowerCut(BaseException):
    """Nothing of ours catches it."""


def cut_after(rounds):
    """An emitter after whose that many rounds of clients the power is gone."""
    seen = []

    def emit(event):
        if isinstance(event, ClientRecord):
            seen.append(event)
        if len(seen) > rounds:
            raise PowerCut

    return emit


def experiment_in(folder, method):
    (experiment,) = load(overrides=[f"method={method}", *SMALL, f"out={folder}"])
    return experiment


def damaged(data, rng):
    """The tail is gone, or zeros stand in its place; anywhere but in the first line."""
    start = rng.randrange(data.index(b"\n") + 1, len(data))
    return data[:start] if rng.random() < 0.5 else data[:start] + bytes(len(data) - start)


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """(original, interrupted) folders of a run of a method whose power was cut after so many rounds."""

    def make(method, rounds):
        base = tmp_path_factory.mktemp(method)
        run_experiment(experiment_in(base / "original", method))
        with pytest.raises(PowerCut):
            run_experiment(experiment_in(base / "cut", method), cut_after(rounds))
        return base / "original", base / "cut"

    return make


def check(original, interrupted, copy, method, rng):
    """Damage a copy, go on, and compare; every round of every client is in the events again."""
    shutil.copytree(interrupted, copy)
    events = copy / "events.jsonl"
    events.write_bytes(damaged(events.read_bytes(), rng))
    run_experiment(experiment_in(copy, method))
    same(original, copy)
    assert [len(client.rounds) for client in RunFolder(copy).record.clients] == [3, 3]
    shutil.rmtree(copy)


@pytest.mark.parametrize(("method", "rounds"), [("v12", 2), ("v4", 4)])
def test_a_lost_tail_changes_nothing(cut, method, rounds, tmp_path):
    original, interrupted = cut(method, rounds)
    rng = random.Random(method)
    for i in range(3):
        check(original, interrupted, tmp_path / str(i), method, rng)


@pytest.mark.parametrize("kept", [0, 2, 4])
def test_files_of_the_last_second_may_be_empty(cut, kept, tmp_path):
    """Renamed, but their content not on disk: all but the first `kept` of the files of a run are empty after it."""
    original, interrupted = cut("v12", 4)
    shutil.copytree(interrupted, tmp_path / "cut")
    written = [path for name in ("uploads", "state") for path in (tmp_path / "cut" / name).rglob("client-*")]
    assert len(written) > 4
    for path in sorted(written, key=lambda path: path.stat().st_mtime_ns)[kept:]:
        path.write_bytes(b"")
    run_experiment(experiment_in(tmp_path / "cut", "v12"))
    same(original, tmp_path / "cut")


def test_a_lost_round_is_told(cut, tmp_path):
    _, interrupted = cut("v7", 4)
    events = interrupted / "events.jsonl"
    events.write_bytes(events.read_bytes()[: len(events.read_bytes()) // 3])
    told = []
    run_experiment(experiment_in(interrupted, "v7"), told.append)
    assert any("events.jsonl had lost" in getattr(event, "text", "") for event in told)


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.parametrize(("method", "rounds"), [("v12", 1), ("v12", 3), ("v9", 2), ("v6", 4), ("memory-bank", 5)])
def test_fifty_lost_tails_of_each_run(cut, method, rounds, tmp_path):
    original, interrupted = cut(method, rounds)
    rng = random.Random(f"{method} {rounds}")
    for i in range(50):
        check(original, interrupted, tmp_path / str(i), method, rng)
    print(f"{method} cut after {rounds} rounds: 50 lost tails, results equal")
