"""What takes long says what is done, how far it is and how long it still needs."""

import pytest

from mooring import load
from mooring.cli import live
from mooring.cli.fuse import slow_last
from mooring.cli.live import Lines, LiveBars, LiveRow, time_text
from mooring.cli.progress import RunProgress
from mooring.cli.sweep_progress import fusion_progress, time_left
from mooring.config import load_fusions
from mooring.events import ClientProgress, PartitionDrawn, ServerProgress
from mooring.types import PartitionSummary
from mooring.wording import duration


def test_rules_that_train_at_the_server_come_last():
    kinds = [rule.kind for rule in slow_last(load_fusions("all"))]
    assert kinds[-3:] == ["co-boosting", "dense", "distil"]
    assert kinds[:-3] == sorted(kinds[:-3])


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "1 second"), (80, "80 seconds"), (720, "12 minutes")])
def test_a_duration_has_a_unit(seconds, told):
    assert duration(seconds) == told


def test_what_is_left_follows_from_what_is_done():
    assert time_left(10.0, 0.25) == "about 30 seconds left"
    assert time_left(10.0, 1.0) == "nearly done"


@pytest.fixture
def at_once(monkeypatch):
    """No pause before a line of progress."""
    monkeypatch.setattr(live, "FIRST", 0.0)
    monkeypatch.setattr(live, "BETWEEN", 0.0)


def test_a_rule_that_trains_tells_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(live, "FIRST", 1e6)
    with fusion_progress(1, silent=False) as emit:
        emit.begin("dense", trains=True)
        monkeypatch.setattr(live, "BETWEEN", 0.0)
        emit(ServerProgress("lessons", 1, 4))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("dense trains at the server")
    assert second.startswith("fusing: 1/1 rules, dense 25%, about ")
    with fusion_progress(1, silent=True) as emit:
        emit.begin("dense", trains=True)
        emit(ServerProgress("lessons", 1, 4))
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("at_once")
def test_a_run_in_a_pipe_tells_who_trains_and_how_far_it_is(capsys):
    show = RunProgress(load(overrides=["method=v7"])[0], Lines())
    show(PartitionDrawn(("north", "south"), PartitionSummary(3, 2, (1, 2))))
    show(ClientProgress(0, 0, 5, 10))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "v7: 2 clients with 3 images"
    assert second.startswith("v7: 25%, 0/2 clients, about ")


def test_what_an_earlier_process_did_is_not_taken_for_speed():
    row = LiveRow("v7")
    row.begin(total=10, done=8)
    assert (row.share, row.seconds_left, time_text(row)) == (0.8, None, "")
    row.done, row.since = 9, row.since - 60
    assert row.seconds_left == pytest.approx(60, abs=1)


def test_bars_keep_the_first_row_and_every_complete_one():
    bars = LiveBars()
    for row in (LiveRow("sweep", 4, 1), LiveRow("a file", 2, 2), LiveRow("a run", 2, 1, level=1)):
        bars.add(row)
    bars.__exit__()
    assert [row.name for row in bars.rows] == ["sweep", "a file"]


def test_work_that_is_done_at_once_or_silently_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr(live, "FIRST", 1e6)
    with live.working("reading"), live.getting_ready():
        pass
    monkeypatch.setattr(live, "FIRST", 0.0)
    with live.working("reading", silent=True):
        pass
    assert capsys.readouterr().err == ""


def test_work_that_takes_long_is_named(capsys, monkeypatch):
    monkeypatch.setattr(live, "FIRST", 0.0)
    with Lines() as lines:
        lines.add(LiveRow("reading", time="so far"))
        lines.timers[0].join()
    assert capsys.readouterr().err == "reading ...\n"
