"""Worker processes are supervised: the dead are replaced, crashes are told, nobody is left behind."""

import subprocess
import sys
from multiprocessing import active_children

import pytest
import torch
from handlers import Trying, telling, waiting

from mooring import load, run_experiment
from mooring.events import FusionBegan, PartitionDrawn
from mooring.processes import NO_MEMORY, Died, Link, Message, WorkerPool, threads

pytestmark = pytest.mark.usefixtures("forking")


class Enough(BaseException):
    """Of a listener that has heard what it wanted."""


def ends(pool, tasks):
    """What became of each task."""
    return [said for said in pool.run(tasks) if isinstance(said, Message | Died)]


def test_a_task_is_tried_by_three_workers_and_then_given_up(tmp_path):
    pool = WorkerPool(Trying(tmp_path), 2)
    assert ends(pool, ["greedy"]) == [Died("greedy", NO_MEMORY, 3)]
    assert len((tmp_path / "greedy").read_text().splitlines()) == 3
    assert pool.started == 3


def test_a_dead_worker_is_replaced_and_a_crash_is_told_with_its_traceback(tmp_path):
    """One pool for both, since workers take seconds to start: the next goes on with the task and those that wait."""
    told = []
    with pytest.raises(RuntimeError, match="in a worker process") as crash:
        for said in WorkerPool(Trying(tmp_path), 1).run(["unlucky", "fine", "wrong"]):
            told += [said] if isinstance(said, Message | Died) else []
    assert told == [Message("unlucky", 2), Message("fine", 1)]
    assert 'handlers.py", line' in str(crash.value)
    assert str(crash.value).rstrip().endswith("ValueError: a mistake of ours")
    assert len((tmp_path / "wrong").read_text().splitlines()) == 1  # a mistake is not tried again


def test_messages_are_heard_in_order_whether_gathered_or_sent():
    words = ["first", "second", "third", "last"]
    assert ends(WorkerPool(telling, 1), ["one", "other"]) == [
        Message(task, word) for task in ("one", "other") for word in words
    ]


class Posted:
    """A pipe that keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, what):
        self.sent.append(what)


def test_a_message_waits_for_others_only_where_the_parent_has_just_heard_something():
    link = Link(Posted(), 0)
    link.say("begun")
    link.gather("first")
    assert link.pipe.sent == [("begun", [], None), ("messages", ["first"], None)]
    link.gather("in a moment")
    assert len(link.pipe.sent) == 2
    link.sent -= 1  # second of silence
    link.gather("later")
    assert link.pipe.sent[2:] == [("messages", ["in a moment", "later"], None)]
    link.gather("at the end")
    link.say("ended")
    assert link.pipe.sent[3:] == [("ended", ["at the end"], None)]


def test_whoever_turns_away_leaves_no_worker_behind():
    messages = WorkerPool(waiting, 1).run(["task"])
    pid = next(said.content for said in messages if isinstance(said, Message))
    assert pid in [child.pid for child in active_children()]
    messages.close()
    assert pid not in [child.pid for child in active_children()]


@pytest.fixture
def two_threads():
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(1)


def test_threads_are_given_back(two_threads):
    with threads(3):
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == 2
    with pytest.raises(ValueError), threads(3):
        raise ValueError
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("stop", [None, PartitionDrawn, FusionBegan])
def test_a_run_gives_back_the_callers_threads_however_it_ends(stop, two_threads, tmp_path):
    """Even while the failure and all its frames are held: no engine is left open in the middle of its work."""

    def watch(event):
        if type(event) is stop:
            raise Enough

    settings = ["method=afl", "partition.kind=iid", "engine.workers=1", "data.limit=100", f"out={tmp_path / 'run'}"]
    [experiment] = load(overrides=settings)
    try:
        assert run_experiment(experiment, watch, threads_of_server=1).complete
        assert stop is None
    except Enough:
        assert torch.get_num_threads() == 2
    assert torch.get_num_threads() == 2


def test_the_process_that_forks_can_be_started_before_torch_is_imported():
    asked = "import sys; from mooring.processes import start_early; print('torch' in sys.modules)"
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert said.stdout == "False\n"
