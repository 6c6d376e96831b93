"""A run that was killed goes on and ends as if nothing had happened, to the byte."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
SETTINGS = ["method=v12", "training.rounds=3", "training.local_epochs=2", "engine.workers=2"]
OFTEN = "engine.save_minutes=0.005"


def started(folder, *words):
    """`mooring run` as a process of its own."""
    command = [sys.executable, "-c", "from mooring.cli import main; main()", "run", *SETTINGS, OFTEN, *words]
    return subprocess.Popen(
        [*command, f"out={folder}", "--quiet"],
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        cwd=folder.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out


def uploads(folder):
    return {path.relative_to(folder): path.read_bytes() for path in (folder / "uploads").rglob("*.safetensors")}


def events(folder, name):
    lines = (folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, filter(None, lines)) if event["event"] == name]


def wait_for(folder, count, process):
    """Until there are that many states; the first come soon after the start."""
    until = time.monotonic() + 120
    while len(list((folder / "state").glob("*.state"))) < count and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)


def workers_of(process):
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    ended(started(folder))
    return folder


def same(one, other):
    assert uploads(one) == uploads(other)
    first, second = (json.loads((folder / "result.json").read_text()) for folder in (one, other))
    for result in (first, second):
        result.pop("seconds")
        for snapshot in result["rounds"]:
            snapshot.pop("server_seconds")
    assert first == second


def test_killed_parent(undisturbed, tmp_path):
    folder = tmp_path / "run"
    for count in (1, 3, 5):
        process = started(folder)
        wait_for(folder, count, process)
        time.sleep(random.Random(count).uniform(0, 0.5))
        process.kill()
        process.communicate()
    ended(started(folder))
    assert events(folder, "resumed")
    same(undisturbed, folder)


def test_killed_worker_is_replaced(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = started(folder)
    wait_for(folder, 1, process)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    ended(process)
    same(undisturbed, folder)


def test_ctrl_c_saves_and_says_how_to_go_on(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = started(folder)
    wait_for(folder, 1, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.strip().endswith(f"interrupted; go on with: mooring resume {folder}")
    assert not (folder / "result.json").exists()
    command = [sys.executable, "-c", "from mooring.cli import main; main()", "resume", str(folder), "--quiet"]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(SOURCE)}, capture_output=True, check=True)
    assert b"v12" in done.stdout
    same(undisturbed, folder)


def test_a_damaged_state_costs_time_and_nothing_else(undisturbed, tmp_path):
    folder = tmp_path / "run"
    process = started(folder)
    wait_for(folder, 2, process)
    process.kill()
    process.communicate()
    for path in (folder / "state").glob("*.state"):
        path.write_bytes(path.read_bytes()[:-7])
    for path in list((folder / "uploads").rglob("*.safetensors"))[:1]:
        path.write_bytes(path.read_bytes()[:-7])
    ended(started(folder))
    same(undisturbed, folder)


def test_an_interrupted_run_of_another_experiment_is_not_thrown_away(tmp_path, cli):
    folder = tmp_path / "run"
    process = started(folder)
    wait_for(folder, 1, process)
    process.kill()
    process.communicate()
    code, _, err = cli("run", "method=v4", f"out={folder}")
    assert code == 2
    assert "holds an interrupted run of another experiment (v12" in err
    code, _, err = cli("clean", folder)
    assert code == 2  # its states are all it has
    assert list((folder / "state").iterdir())


def test_clean_removes_what_a_finished_run_no_longer_needs(undisturbed, tmp_path, cli):
    code, out, err = cli("clean", undisturbed)
    assert code == 0, err
    assert "removed" in out
    assert not (undisturbed / "state").exists()
    assert (undisturbed / "result.json").exists()
