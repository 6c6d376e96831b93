"""Many kills at random moments (`make chaos`): whatever is killed, whenever, the bytes are the same."""

import random
import signal
import time

import pytest
from disturbance import LIMIT_SECONDS, same, started, torment, undisturbed, wait_for_states

KILLS = 60
METHODS = ("v12", "memory-bank", "v6", "v9")  # learned lambda, memory, public bank and stages, entropy
LONGER = ["training.rounds=4", "training.local_epochs=3"]
EQUAL = ["partition.kind=iid", "partition.clients=3"]


@pytest.mark.chaos
@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_many_kills(method, tmp_path):
    settings = [f"method={method}", *LONGER]
    original = undisturbed(settings, tmp_path / "original")
    rng, killed, attempt = random.Random(method), 0, 0
    while killed < KILLS / len(METHODS):
        folder = tmp_path / f"run-{attempt}"
        here = torment(folder, settings, rng, kills=KILLS // len(METHODS), patience=8.0)
        same(original, folder)
        killed, attempt = killed + here, attempt + 1
        print(f"{method}: {here} kills, byte-identical ({killed} in all)")


@pytest.mark.chaos
@pytest.mark.slow
def test_many_kills_while_a_client_changes_its_worker(tmp_path):
    """Three equal clients on two workers: one of them is begun by one and ended by the other."""
    settings = ["method=v12", *LONGER, *EQUAL]
    original, rng = undisturbed(settings, tmp_path / "original"), random.Random("divided")
    killed = torment(tmp_path / "run", settings, rng, kills=KILLS // len(METHODS), patience=8.0)
    same(original, tmp_path / "run")
    print(f"divided: {killed} kills, byte-identical")
    assert killed


@pytest.mark.chaos
@pytest.mark.slow
def test_the_second_ctrl_c_leaves_before_the_run_is_done(settings, tmp_path):
    folder = tmp_path / "run"
    process = started(folder, *(word.replace("rounds=3", "rounds=20") for word in settings))
    wait_for_states(folder, 1, process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130
    assert not (folder / "result.json").exists()
