"""What a run tells while it goes on, and where its time went."""

import json
import re

import pytest

from mooring import load, run_experiment
from mooring.cli.live import Display
from mooring.cli.progress import RunProgress, TrainingProgress, resumed
from mooring.events import ClientProgress, ClientRecord, ClientResumed, ClientStarted, RunResumed
from mooring.execution._clock import Clock

TINY = ("data.limit=100", "partition.clients=2", "training.rounds=1", "training.local_epochs=1", "engine.workers=1")


def test_programs_are_told_every_event_as_a_line_of_json_beside_the_result(cli):
    code, out, err = cli("run", "method=v4", *TINY, "--json", "--events")
    assert code == 0
    words = [json.loads(line)["event"] for line in err.splitlines()]
    assert words[0] == "partition"
    assert {"start", "tick", "round", "fusing", "fused"} <= set(words)
    spent = json.loads(out)["spent"]
    assert set(spent) == {"prepare", "train", "fuse", "evaluate", "write"}
    assert sum(spent.values()) == pytest.approx(json.loads(out)["seconds"])


def test_the_table_says_where_the_time_went_in_one_line(cli):
    _, out, _ = cli("run", "method=v4", *TINY, "--quiet")
    [line] = [line for line in out.splitlines() if line.startswith("v4: prepare")]
    assert [word for word in line.replace(",", "").split() if word.isalpha() and word != "s"] == [
        *("prepare", "train", "fuse", "evaluate", "write")
    ]


def test_every_moment_belongs_to_one_phase():
    clock = Clock()
    with clock.during("train"), clock.during("write"):
        pass
    clock.move("train", "fuse", 0.0)
    total = clock.total()
    spent = clock.spent()
    assert spent.train >= 0
    assert spent.write > 0
    assert spent.prepare + spent.train + spent.write == pytest.approx(total)


class Enough(Exception):  # noqa: N818
    """Stops a run as Ctrl-C does."""


def stopped_after(clients, rounds):
    """A listener that stops its run at the end of a round of the last of these clients."""
    ended = []

    def emit(event):
        if isinstance(event, ClientRecord) and event.round == rounds - 1:
            ended.append(event.client)
        if len(ended) == clients and isinstance(event, ClientRecord):
            raise Enough

    return emit


def test_a_run_that_goes_on_says_from_where_in_one_line(cli, tmp_path):
    words = [*TINY[:1], "method=v4", "partition.clients=3", "training.rounds=4", "training.local_epochs=1"]
    [experiment] = load(overrides=[*words, "engine.workers=1", f"out={tmp_path / 'run'}"])
    with pytest.raises(Enough):
        run_experiment(experiment, stopped_after(2, 3))
    code, _, err = cli("resume", "run")
    assert code == 0, err
    told = [line for line in err.splitlines() if ": goes on: " in line]
    assert len(told) == 1, err
    wanted = r"v4: goes on: 1 of 3 clients is done, client \d goes on in round 3 of 4 after \d+ steps?, 1 begins"
    assert re.fullmatch(wanted, told[0])
    assert ": goes on: " not in cli("run", *words, "engine.workers=1", "out=run", "--again")[2]
    assert ": goes on: " not in cli("resume", "run")[2]


def test_where_many_go_on_only_their_rounds_are_told():
    places = tuple(ClientResumed(client, client % 3, 7) for client in range(5))
    assert resumed(RunResumed(9, 2, places), 10, (), "step") == (
        "goes on: 2 of 9 clients are done, 5 go on in rounds 1 to 3 of 10, 2 begin"
    )
    named = resumed(RunResumed(2, 1, (ClientResumed(1, 3, 1),)), 10, ("north", "south"), "step")
    assert named == "goes on: 1 of 2 clients is done, south goes on in round 4 of 10 after 1 step"


def test_what_was_done_before_is_counted_and_not_taken_for_speed():
    trained = TrainingProgress(5)
    trained.resumed(RunResumed(5, 1, (ClientResumed(2, 7, 70),)))
    trained.heard(ClientProgress(2, 7, 71, 100))
    assert (trained.done, trained.before, trained.ended) == (pytest.approx(1.71), pytest.approx(1.71), 1)
    trained.heard(ClientProgress(2, 9, 100, 100))
    trained.heard(ClientProgress(0, 4, 50, 100))
    assert (trained.done, trained.before, trained.ended) == (2.5, pytest.approx(1.71), 2)


def test_records_advance_the_bar_where_an_engine_tells_nothing_before_a_client_has_ended():
    trained = TrainingProgress(2)
    trained.heard(ClientStarted(0, 30, 40, 8))
    trained.heard(ClientRecord(0, 0, steps=20))
    assert (trained.done, trained.ended) == (0.5, 0)
    trained.heard(ClientRecord(0, 1, steps=40))
    assert (trained.done, trained.ended) == (1, 1)


def test_clients_that_train_nothing_advance_the_bar(tmp_path):
    settings = ["method=afl", "data.limit=100", "partition.clients=2", "engine.workers=1", f"out={tmp_path / 'run'}"]
    (experiment,) = load(overrides=settings)
    progress = RunProgress(experiment, Display())
    run_experiment(experiment, progress)
    assert (progress.trained.done, progress.trained.ended) == (2, 2)
    assert progress.run.complete
