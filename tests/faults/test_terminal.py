"""Ctrl-C typed into a terminal, where it reaches every process of the group: saved, said in one line, no traceback.

A run with two workers is interrupted as soon as a client has a state; a sweep and a study are asked to save their runs.
"""

import importlib
import os
import pty
import select
import shutil
import sys
import time
from pathlib import Path
from shlex import quote

import pytest
from disturbance import LIMIT_SECONDS, OFTEN, SOURCE, same, undisturbed
from federated import CHEAP, Federated, write_sites

from mooring.cli import _noted_interrupts
from mooring.federation._keys import HOME
from mooring.federation._upload_file import read_upload
from mooring.record import RunFolder, verify
from mooring.uploads._codec import encode

INTERRUPT = b"\x03"
LONG = ["training.rounds=200", "training.local_epochs=2", "data.limit=400", OFTEN]
FLOWER = ["method=v7", "training.rounds=60", "data.limit=400", "partition.clients=3", "training.snapshots=last"]


class Terminal:
    """A command in a terminal of its own."""

    def __init__(self, folder, *words):
        self.screen, self.until = b"", time.monotonic() + LIMIT_SECONDS
        self.pid, self.keyboard = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ |= {"PYTHONPATH": str(SOURCE), "TERM": "xterm", "COLUMNS": "200"}
            program = "from mooring.cli import program; program()"
            os.execv(sys.executable, [sys.executable, "-c", program, *map(str, words)])

    def wait_for(self, seen):
        """Read what is shown until `seen()`."""
        while not seen():
            assert time.monotonic() < self.until, self.shown()[-2000:]
            assert self.read(), self.shown()[-2000:]

    def read(self):
        """Whether the command is still there."""
        ready, _, _ = select.select([self.keyboard], [], [], 0.02)
        if not ready:
            return True
        try:
            data = os.read(self.keyboard, 65536)
        except OSError:  # the terminal closes with its last process
            return False
        self.screen += data
        return bool(data)

    def press(self):
        os.write(self.keyboard, INTERRUPT)

    def ended(self):
        """The exit code, once everything was shown."""
        while self.read():
            assert time.monotonic() < self.until, self.shown()[-2000:]
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)

    def shown(self):
        return self.screen.decode(errors="replace").replace("\r\n", "\n")


def states(folder):
    return list(folder.glob("**/state/*.state"))


def test_a_run_with_two_workers_saves_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "a folder"
    terminal = Terminal(tmp_path, "run", "method=v7", "engine.workers=2", f"out={folder}", *LONG)
    terminal.wait_for(lambda: states(folder))
    terminal.press()
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown()
    assert "interrupted; kept: " in terminal.shown()
    assert "; go on with:" in terminal.shown()
    assert terminal.shown().splitlines()[-1].endswith(f"mooring resume {quote(str(folder))}")
    assert states(folder)
    assert not (folder / "result.json").exists()


@pytest.mark.parametrize("verb", [("sweep", "method=v4,v7"), ("study", "5")])
def test_a_sweep_and_a_study_save_their_runs(verb, tmp_path):
    folder = tmp_path / "many"
    own = [word for word in LONG if verb[0] == "sweep" or not word.startswith("training.")]
    terminal = Terminal(tmp_path, *verb, f"out={folder}", "--workers", "2", *own)
    terminal.wait_for(lambda: states(folder))
    terminal.press()
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown()
    assert f"interrupted; go on with: mooring {verb[0]}" in " ".join(terminal.shown().split())


def test_a_fusion_of_many_rules_keeps_what_it_has(original, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(original, folder)
    terminal = Terminal(tmp_path, "fuse", folder, "--fusion", "all")
    terminal.wait_for(lambda: list(folder.glob("fusions/*.json")))
    terminal.press()
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown()
    assert f"rules are fused, and kept in {folder}/fusions" in terminal.shown()
    assert all(state.state == "as written" for state in verify(RunFolder(folder)))


def test_a_site_goes_on_with_its_training(tmp_path, monkeypatch, cli):
    """Ctrl-C, then the command that is told: the upload of a training that nobody disturbed."""
    long = ("method=v7", "model=digits_net", "training.rounds=40", "training.local_epochs=1", *CHEAP[:2])
    made = Federated(tmp_path, words=long, named_keys=False)
    write_sites(tmp_path / "images", {"north": (4, 4, 4, 4)}, side=16)
    words = ["train", "job.mooring", "--data", "images/north", "--site", "north", "--yes", "--allow-small-classes"]
    home = tmp_path / "home of a site"
    monkeypatch.setenv(HOME, str(home))
    terminal = Terminal(tmp_path, *words)
    terminal.wait_for(lambda: list(home.glob("training/**/*.state")))
    terminal.press()
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown()
    assert "interrupted; kept: " in terminal.shown()
    assert terminal.shown().splitlines()[-1].endswith(f"; go on with: mooring {' '.join(words)}")
    assert not (tmp_path / "north.mooring").exists()
    monkeypatch.setenv(HOME, str(home))
    assert cli(*words)[0] == 0
    undisturbed = made.train("north", name="undisturbed.mooring", allow_small=True)
    gone_on, whole = (encode(read_upload(path).upload) for path in (tmp_path / "north.mooring", undisturbed))
    assert gone_on == whole


@pytest.mark.parametrize("moment", [0.0, 0.4])
def test_while_it_is_still_starting_nothing_but_one_word_is_said(moment, tmp_path):
    """At once, in the middle of imports, or before a worker has begun: there is nothing to save."""
    terminal = Terminal(tmp_path, "run", "method=v7", "engine.workers=2", "out=run", *LONG)
    started = time.monotonic()
    terminal.wait_for(lambda: time.monotonic() - started > 0.8 + moment)
    terminal.press()
    assert terminal.ended() in (130, -2)  # -2: before our first line, where Python itself answers
    assert "Traceback" not in terminal.shown() or ", in main" not in terminal.shown()


def test_an_import_ends_before_ctrl_c_is_heard(tmp_path, monkeypatch):
    """Compiled libraries abort the process if their import is interrupted, so nothing is raised inside one."""
    (tmp_path / "slow_library.py").write_text(
        "import signal, time\nsignal.raise_signal(signal.SIGINT)\ntime.sleep(0.2)\nWHOLE = True\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with _noted_interrupts() as noted, pytest.raises(KeyboardInterrupt):
        library = importlib.import_module("slow_library")
        assert library.WHOLE
        assert noted.is_set()
        time.sleep(10)


def test_the_second_ctrl_c_leaves_at_once(tmp_path):
    folder = tmp_path / "run"
    terminal = Terminal(tmp_path, "run", "method=v7", "engine.workers=2", f"out={folder}", *LONG)
    terminal.wait_for(lambda: states(folder))
    terminal.press()
    terminal.press()
    assert terminal.ended() == 130
    assert "Traceback" not in terminal.shown()


def processes_of(session):
    """Of a terminal: whatever was started in it and still runs."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[path.parent.name] = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
    return [process for process, (state, _, _, number, *_) in stats.items() if number == str(session) and state != "Z"]


def interrupted_on_flower(folder, monkeypatch, times=1):
    """Ctrl-C as soon as two clients train in Flower's simulation; what was shown."""
    pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("RAY_TMPDIR", "/tmp")  # paths of sockets have to be short
    terminal = Terminal(folder, "run", *FLOWER, "engine=flower", "engine.workers=2", f"out={folder / 'run'}")
    terminal.wait_for(lambda: len(list(folder.glob("mooring-flower-*/*.begun"))) == 2)
    for _ in range(times):
        terminal.press()
    assert terminal.ended() == 130, terminal.shown()
    while processes_of(terminal.pid):  # those of Ray notice that it has ended
        assert time.monotonic() < terminal.until
        time.sleep(0.02)
    assert not list(folder.glob("mooring-flower-*"))
    assert not any(word in terminal.shown() for word in ("Traceback", "Actor", "Ray", "raylet", "GCS", "ERROR"))
    return terminal.shown()


def test_flowers_simulation_saves_its_clients_and_leaves_no_process_behind(tmp_path, monkeypatch):
    shown = interrupted_on_flower(tmp_path, monkeypatch)
    assert shown.splitlines()[-1].endswith(f"; go on with: mooring resume {tmp_path / 'run'}")
    assert len(states(tmp_path / "run")) == 2


@pytest.mark.slow
def test_the_second_ctrl_c_ends_flowers_simulation_at_once(tmp_path, monkeypatch):
    assert "interrupted; " in interrupted_on_flower(tmp_path, monkeypatch, times=2)


@pytest.mark.slow
def test_a_run_that_was_interrupted_in_flowers_simulation_ends_as_one_that_was_not(tmp_path, monkeypatch):
    interrupted_on_flower(tmp_path, monkeypatch)
    terminal = Terminal(tmp_path, "resume", tmp_path / "run")
    assert terminal.ended() == 0, terminal.shown()
    same(undisturbed(FLOWER, tmp_path / "undisturbed"), tmp_path / "run")
