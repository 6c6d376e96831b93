"""Runs that are started as processes of their own, to be killed, and what must be the same afterwards."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from mooring import load, run_experiment

SOURCE = Path(__file__).parents[2] / "src"
OFTEN = "engine.save_minutes=0.003"
LIMIT_SECONDS = 240
LIVES = 2  # workers that one parent may lose over one client and still end well


def undisturbed(settings, folder):
    """The same run in this process, with one worker and without any trouble."""
    (experiment,) = load(overrides=[*settings, "engine.workers=1", f"out={folder}"])
    run_experiment(experiment)
    return folder


def started(folder, *settings):
    """`mooring run` with two workers; `folder` is its own or that of an interrupted run."""
    words = ["run", *settings, "engine.workers=2", OFTEN, f"out={folder}", "--quiet"]
    return subprocess.Popen(
        [sys.executable, "-c", "from mooring.cli import program; program()", *words],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    """Wait for a run that must end well."""
    out, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0, err
    return out


def kill(process):
    process.kill()
    process.communicate()


def wait_for_states(folder, count, process):
    """Until that many clients have a state; the first come soon after the start."""
    until = time.monotonic() + LIMIT_SECONDS
    while len(list((folder / "state").glob("*.state"))) < count and process.poll() is None:
        assert time.monotonic() < until, "no states"
        time.sleep(0.01)


def workers_of(process):
    """Process ids of the workers, as far as they have begun: forked by the one child that has imported everything."""
    return [worker for child in children_of(process.pid) if forks(child) for worker in children_of(child)]


def children_of(pid):
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def forks(pid):
    try:
        return b"multiprocessing.forkserver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def torment(folder, settings, rng: random.Random, kills: int, patience: float) -> int:
    """Kill parents and workers at random moments and go on every time, until the run ends; how many were killed.

    `patience`: seconds between two kills, at most.
    """
    done = 0
    while True:
        process = started(folder, *settings)
        workers_killed = 0
        while done < kills:
            try:
                process.communicate(timeout=rng.uniform(0, patience))
                break  # it ended by itself
            except subprocess.TimeoutExpired:
                pass
            victims = workers_of(process)
            done += 1
            if victims and workers_killed < LIVES and rng.random() < 0.5:
                workers_killed += 1
                os.kill(rng.choice(victims), signal.SIGKILL)
            else:
                kill(process)
                break
        else:
            ended(process)
            return done
        if process.returncode == 0:
            return done
        assert process.returncode == -signal.SIGKILL, process.returncode


def uploads(folder):
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "uploads").rglob("*.safetensors")}


def events(folder, name):
    lines = (folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, filter(None, lines)) if event["event"] == name]


def same(one, other):
    """Every upload to the byte, and everything in the result but when it was made, by which words and how fast."""
    assert uploads(one) == uploads(other)
    first, second = (json.loads((folder / "result.json").read_text()) for folder in (one, other))
    for result in (first, second):
        for name in (
            "seconds",
            "spent",
            "date",
            "command",
            "files",
            "sha256",
        ):  # events tell times, and so do their hashes
            result.pop(name)
        for snapshot in result["rounds"]:
            snapshot.pop("server_seconds")
            for client in snapshot["clients"]:
                client.pop("seconds")
    assert first == second
