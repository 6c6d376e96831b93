"""A sweep that was killed in the middle goes on and ends with the same tables, byte for byte."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest
from disturbance import LIMIT_SECONDS, SOURCE, ended, kill, workers_of

SMALL = ["data.limit=600", "training.local_epochs=2"]
SHORT = "training.rounds=2"


def started(folder, *words):
    command = [sys.executable, "-c", "from mooring.cli import program; program()", "sweep", *SMALL, *words]
    return subprocess.Popen(
        [*command, "--baseline", "method=v4", "--workers", "2", "--quiet", f"out={folder}"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_runs(folder, count, process):
    until = time.monotonic() + LIMIT_SECONDS
    while len(list(folder.glob("runs/*/result.json"))) < count and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.02)


def tables(folder):
    return [(folder / name).read_bytes() for name in ("results.csv", "summary.csv")]


def disturbed(folder, words, moments, rng):
    """Killed when so many runs have ended, a worker first and then the parent, and gone on with every time."""
    for count in moments:
        process = started(folder, *words)
        wait_for_runs(folder, count, process)
        time.sleep(rng.uniform(0, 1))
        victims = workers_of(process)
        if victims:
            os.kill(rng.choice(victims), signal.SIGKILL)
        time.sleep(rng.uniform(0, 3))
        kill(process)
    ended(started(folder, *words))


@pytest.mark.chaos
@pytest.mark.slow
def test_a_killed_sweep(tmp_path):
    words = ["method=v4,v9", SHORT]
    ended(started(tmp_path / "whole", *words))
    disturbed(tmp_path / "killed", words, [1], random.Random(1))
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")


@pytest.mark.chaos
@pytest.mark.slow
def test_ctrl_c_in_a_sweep(tmp_path):
    process = started(tmp_path / "s", "method=v4,v9", "seed=1..2", "training.rounds=50")
    wait_for_runs(tmp_path / "s", 0, process)
    until = time.monotonic() + LIMIT_SECONDS
    while not list((tmp_path / "s").glob("runs/*/state/*.state")):
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130
    assert err.startswith("interrupted; go on with: mooring sweep ")
    assert err.count("\n") == 1
    assert len(list((tmp_path / "s").glob("runs/*"))) < 4  # what had not begun does not begin


@pytest.mark.chaos
@pytest.mark.slow
def test_a_killed_sweep_of_24_runs(tmp_path):
    words = ["method=v4,v9,v12,fedavg-1", "partition.alpha=0.05,0.5", "seed=1..3", SHORT]
    ended(started(tmp_path / "whole", *words))
    disturbed(tmp_path / "killed", words, [2, 7, 12, 18], random.Random(2))
    assert tables(tmp_path / "killed") == tables(tmp_path / "whole")
    assert len((tmp_path / "whole/results.csv").read_text().splitlines()) == 25
