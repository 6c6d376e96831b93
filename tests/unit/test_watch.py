"""A run in the terminal: what a frame says, and when watching ends."""

import json
import shutil
from dataclasses import replace
from threading import Thread

from report_folders import SHORT
from rich.console import Console

from mooring.cli import watch
from mooring.cli.watch import frame_of_sweeps, is_running, log_sparkline, look, sparkline
from mooring.config import HOUSE_CODE
from mooring.record import RunFolder, in_use, locked
from mooring.wording import accuracy_text


def test_a_sparkline_spans_its_blocks():
    assert sparkline([0.0, 0.5, 1.0, None], 0.0, 1.0) == "▁▅█ "
    assert sparkline([3.0, 3.0], 3.0, 3.0) == "▅▅"


def test_a_logarithmic_sparkline_climbs_by_decades():
    assert log_sparkline([1.0, 10.0, 1e7, 0.0], 1.0, 1e7) == "▁▂█ "


def test_a_finished_run_is_seen_whole(v12_run):
    title, record, rounds = look(v12_run, HOUSE_CODE)
    assert title == f"v12  {v12_run}  finished"
    assert rounds == 2
    assert sorted(record.fused) == [0, 1]
    assert len(record.clients) == record.result.clients
    assert record.test_images == replace(record, result=None).test_images == 360
    assert all([row.round for row in client.rounds] == [0, 1] for client in record.clients)
    assert not is_running(v12_run)


def test_a_folder_is_in_use_for_as_long_as_it_is_locked(tmp_path):
    assert not in_use(tmp_path)
    with locked(tmp_path):
        assert in_use(tmp_path)
        assert is_running(tmp_path)
    assert not in_use(tmp_path)


def text_of(frame):
    console = Console(width=80)
    with console.capture() as captured:
        console.print(frame)
    return captured.get()


def test_a_sweep_shows_how_many_of_its_runs_are_done(v12_run, tmp_path):
    plan = {"settings": list(SHORT), "factors": {"method": ["v12"], "seed": [1, 2]}}
    (tmp_path / "sweep.yaml").write_text(json.dumps(plan))
    shutil.copytree(v12_run, tmp_path / "runs/v12-seed1")
    shown = text_of(frame_of_sweeps(tmp_path, [tmp_path], HOUSE_CODE, 24))
    assert "stopped: 1 of 2 runs finished" in " ".join(shown.split())
    result = RunFolder(v12_run).result
    assert accuracy_text(result.accuracy, 360) in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_study_is_the_sweeps_in_it_and_a_low_terminal_shows_few(sweep_folder, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).symlink_to(sweep_folder)
    assert watch.sweeps_in(tmp_path) == [tmp_path / "first", tmp_path / "second"]
    shown = text_of(frame_of_sweeps(tmp_path, watch.sweeps_in(tmp_path), HOUSE_CODE, 10))
    assert "study of 2 sweeps" in shown
    assert "first/v7-seed1" in shown
    assert "... and 6 more runs" in shown


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path, monkeypatch, v12_run):
    monkeypatch.setattr(watch, "SECONDS", 0.01)
    waiting = Thread(target=watch.wait_for, args=(tmp_path / "later",))
    waiting.start()
    assert waiting.is_alive()
    (tmp_path / "later").symlink_to(v12_run)
    waiting.join(timeout=60)
    assert not waiting.is_alive()
