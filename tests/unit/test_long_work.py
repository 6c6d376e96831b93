"""What takes long says what is done, how far it is and how long it still needs."""

import pytest

from mooring import load
from mooring.cli import progress
from mooring.cli import spinner as waiting
from mooring.cli.arguments import duration
from mooring.cli.fusion_progress import cheap_first, fusing, left
from mooring.cli.progress import RunLines
from mooring.config import load_fusions
from mooring.events import ClientProgress, PartitionDrawn, ServerProgress
from mooring.types import PartitionSummary


def test_rules_that_train_at_the_server_come_last():
    kinds = [rule.kind for rule in cheap_first(load_fusions("all"))]
    assert kinds[-3:] == ["co-boosting", "dense", "distil"]
    assert kinds[:-3] == sorted(kinds[:-3])


@pytest.mark.parametrize(("seconds", "told"), [(0.2, "1 second"), (80, "80 seconds"), (720, "12 minutes")])
def test_a_duration_has_a_unit(seconds, told):
    assert duration(seconds) == told


def test_what_is_left_follows_from_what_is_done():
    assert left(10.0, 0.25) == "about 30 seconds left"
    assert left(10.0, 1.0) == "nearly done"


def test_a_rule_that_trains_tells_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr("mooring.cli.fusion_progress.PATIENCE", 0.0)
    with fusing(1, silent=False) as emit:
        emit.begin("dense")
        emit(ServerProgress("lessons", 1, 4))
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("dense trains at the server")
    assert second.startswith("dense 25%, about ")
    with fusing(1, silent=True) as emit:
        emit.begin("dense")
        emit(ServerProgress("lessons", 1, 4))
    assert capsys.readouterr().err == ""


def test_a_run_in_a_pipe_tells_who_trains_and_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    lines = RunLines(load(overrides=["method=v7"])[0])
    lines.show(PartitionDrawn(("north", "south"), PartitionSummary(3, 2, (1, 2))))
    lines.show(ClientProgress(0, 0, 5, 10))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "v7: 2 clients with 3 images"
    assert second.startswith("v7: training 25%, about ")


def test_work_that_is_done_at_once_or_silently_says_nothing(capsys, monkeypatch):
    monkeypatch.setattr(waiting, "PATIENCE", 1e6)
    with waiting.working("reading"), waiting.getting_ready():
        pass
    monkeypatch.setattr(waiting, "PATIENCE", 0.0)
    with waiting.working("reading", silent=True):
        pass
    assert capsys.readouterr().err == ""
