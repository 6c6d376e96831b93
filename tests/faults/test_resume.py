"""A run that was killed goes on and ends as if nothing had happened, to the byte."""

import os
import signal

import pytest
from disturbance import LIMIT_SECONDS, events, kill, same, started, wait_for_states, workers_of

from mooring.processes import remembered_interrupt


def test_a_killed_worker_and_a_killed_run(original, settings, tmp_path, cli):
    folder = tmp_path / "run"
    process = started(folder, *settings)
    wait_for_states(folder, 1, process)
    os.kill(workers_of(process)[0], signal.SIGKILL)
    wait_for_states(folder, 3, process)
    kill(process)
    code, _, err = cli("run", *settings, "engine.workers=1", f"out={folder}")
    assert code == 0, err
    assert events(folder, "resumed")
    same(original, folder)


def test_ctrl_c_saves_and_says_how_to_go_on(original, settings, tmp_path, cli):
    folder = tmp_path / "run"
    process = started(folder, *settings)
    wait_for_states(folder, 2, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130
    assert err.startswith("interrupted; kept: ")
    assert err.endswith(f"; go on with: mooring resume {folder}\n")
    assert not (folder / "result.json").exists()

    # nothing else may take its place, and its states are all it has
    code, _, err = cli("run", "method=v4", f"out={folder}")
    assert code == 2
    assert "holds an interrupted run of another experiment (v12" in err
    code, _, err = cli("clean", folder)
    assert code == 2
    assert list((folder / "state").iterdir())

    # damage costs time and nothing else
    for path in [*(folder / "state").glob("*.state"), *list((folder / "uploads").rglob("*.safetensors"))[:1]]:
        path.write_bytes(path.read_bytes()[:-7])
    (folder / "experiment.yaml").write_text("method: [")
    code, _, err = cli("resume", folder)
    assert code == 2
    assert "experiment.yaml" in err
    code, out, err = cli("run", *settings, "engine.workers=1", f"out={folder}")
    assert code == 0, err
    assert "is damaged; an earlier state is used" in err
    assert "v12" in out
    same(original, folder)

    code, out, err = cli("clean", folder)
    assert code == 0, err
    assert "removed" in out
    assert not (folder / "state").exists()
    same(original, folder)


def test_a_finished_run_is_left_alone_by_resume(original, cli):
    code, out, err = cli("resume", original)
    assert code == 0
    assert "had finished, nothing was left to do" in err
    assert "v12" in out


@pytest.fixture
def heard():
    """Ctrl-C as in a terminal; a suite that runs in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_ctrl_c_is_remembered_and_the_second_acts_at_once(heard):
    with pytest.raises(KeyboardInterrupt), remembered_interrupt() as interrupted:
        signal.raise_signal(signal.SIGINT)
        assert interrupted.is_set()
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it went on after the second")
