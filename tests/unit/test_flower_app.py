"""Server and nodes of a federation over Flower, with Flower's network left out: its grid is a dictionary here."""

import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from flwr.app import Context, Error, Message, RecordDict
from flwr.proto.node_pb2 import NodeInfo
from flwr.supercore.task_identity import TaskIdentity

from mooring.config import load
from mooring.engines.flower.messages import parse_answer, train_request
from mooring.errors import FederationError, ReviewError
from mooring.federation._keys import own_identity
from mooring.federation._log import Log
from mooring.federation._model_file import load_model
from mooring.federation._plan import plan
from mooring.flower_app import _asking as asking
from mooring.flower_app import client, server

SETTINGS = ("method=afl", "encoder=none", "data.source=image_folder", "data.size=8", "data.channels=1")
SUPERLINK = 1 << 60  # who writes in the place of a node that is gone
SITES = ("north", "south", "east")


@dataclass
class Grid:
    """Nodes answer at once; the first replies of some of them are lost on the way, or late by one look."""

    nodes: dict[int, dict[str, object]]
    lost: dict[int, int] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # as they were registered
    late: set[int] = field(default_factory=set)
    before: list[dict[int, dict[str, str]]] = field(default_factory=list)  # who is there at the first looks
    replies: dict[str, object] = field(default_factory=dict)
    asked: list[int] = field(default_factory=list)

    def get_nodes(self):
        self.present = self.before.pop(0) if self.before else self.nodes
        return [NodeInfo(node_id=node, name=self.names.get(node, "")) for node in self.present]

    def push_messages(self, messages):
        return [self.push(message) for message in messages]

    def push(self, message):
        node, name = message.metadata.dst_node_id, f"message {len(self.asked)}"
        self.asked.append(node)
        message.metadata.__dict__["_message_id"] = name
        answer = client.train(message, context(node_config=self.present[node], node=node))
        if self.lost.get(node):
            self.lost[node] -= 1
            answer = Message(Error(1, "the connection broke"), reply_to=message)
            answer.metadata.__dict__["_src_node_id"] = SUPERLINK
        self.replies[name] = answer
        return name

    def pull_messages(self, names):
        return [self.replies.pop(name) for name in names if self.arrived(name)]

    def arrived(self, name):
        late = name in self.replies and self.replies[name].metadata.src_node_id in self.late
        self.late -= {self.replies[name].metadata.src_node_id} if late else set()
        return name in self.replies and not late


def context(node_config=None, run_config=None, node=0):
    return Context(1, node, node_config or {}, RecordDict(), run_config or {})


@pytest.fixture
def federation(tmp_path, monkeypatch):
    """Three sites with images, one job; returns the configuration of each node, and a run."""
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "coordinator"))
    TaskIdentity.run_id, TaskIdentity.task_id, TaskIdentity.node_id = 1, 1, 1  # who writes a message
    monkeypatch.setattr(asking, "PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(asking, "FIRST_PAUSE", 0.01)
    for number, site in enumerate(SITES):
        for label, grey in (("a", 40), ("b", 200)):
            folder = tmp_path / "images" / site / label
            folder.mkdir(parents=True)
            for image in range(6):
                drawn = np.random.default_rng([number, image]).integers(grey - 30, grey + 30, (8, 8))
                Image.fromarray(drawn.astype(np.uint8)).save(folder / f"{image}.png")
    [experiment] = load(None, list(SETTINGS))
    identity = own_identity()
    (tmp_path / "job.mooring").write_bytes(plan(experiment, ["a", "b"], SITES, identity, minimum=5)[0])
    nodes = {
        number: {
            "name": site,
            "data": str(tmp_path / "images" / site),
            "home": str(tmp_path / site),
            "coordinator": identity.public,
            "accept_disclosure": True,
        }
        for number, site in enumerate(SITES, 1)
    }

    def run(grid, **settings):
        paths = {"job": str(tmp_path / "job.mooring"), "out": str(tmp_path / "model.mooring"), "encoder": ""}
        usual = {**paths, "need": 0, "deadline": 60.0, "again": 60.0}
        server.main(grid, context(run_config=usual | settings))
        return [site.name for site in load_model(tmp_path / "model.mooring").provenance.used]

    return nodes, run


def trainings(node):
    return [entry.action for entry in Log(client.node_of(node).place).entries()].count("trained")


def test_every_node_is_asked_once(federation, caplog):
    nodes, run = federation
    caplog.set_level("INFO", "flwr")
    grid = Grid(nodes)
    assert run(grid) == list(SITES)
    assert sorted(grid.asked) == [1, 2, 3]
    assert "mooring: north: used" in [record.getMessage() for record in caplog.records]


def test_a_node_whose_answer_was_lost_is_asked_again_and_trains_once(federation):
    nodes, run = federation
    grid = Grid(nodes, lost={2: 2})
    assert run(grid) == list(SITES)
    assert grid.asked.count(2) == 3
    assert [trainings(node) for node in nodes.values()] == [1, 1, 1]


def test_a_lost_answer_is_told_with_the_node_that_was_asked_and_its_name(federation, caplog):
    nodes, run = federation
    run(Grid(nodes, lost={2: 1, 3: 1}, names={2: "south"}))
    assert "mooring: node 2 (south): the connection broke; asked again" in caplog.text
    assert "mooring: node 3: the connection broke; asked again" in caplog.text
    assert str(SUPERLINK) not in caplog.text


def test_at_the_deadline_what_is_there_is_fused_and_the_next_run_asks_only_for_the_rest(federation, caplog):
    nodes, run = federation
    assert run(Grid({1: nodes[1], 3: nodes[3]}), need=2, deadline=1.0) == ["north", "east"]
    assert "nothing from south" in caplog.text
    sent = Grid(nodes)
    assert run(sent) == list(SITES)
    assert [trainings(node) for node in nodes.values()] == [1, 1, 1]


def test_fewer_sites_than_needed_is_an_error_that_names_the_missing(federation):
    nodes, run = federation
    with pytest.raises(FederationError, match=r"1 of 3 needed uploads have come; silent: south, east; what came is in"):
        run(Grid({1: nodes[1]}), deadline=0.5)


def test_where_nothing_came_nothing_is_said_to_be_kept(federation):
    _, run = federation
    with pytest.raises(FederationError, match="0 of 3 needed uploads have come; silent: north, south, east; correct"):
        run(Grid({}), deadline=0.1)


def test_sites_that_rejected_are_not_waited_for_and_told_apart_from_silent_ones(federation, caplog):
    nodes, run = federation
    rejecting = {2: nodes[2] | {"data": "/nowhere"}}
    assert run(Grid(nodes | rejecting), need=2) == ["north", "east"]
    assert "no upload from south: /nowhere" in caplog.text
    assert "nothing from" not in caplog.text  # what is said at the deadline
    with pytest.raises(FederationError, match="2 of 3 needed uploads have come; rejected: south; what came"):
        run(Grid(nodes | rejecting))


def test_a_rejection_does_not_end_a_run_in_which_another_node_is_still_at_work(federation, tmp_path):
    nodes, run = federation
    stranger = nodes[2] | {"data": "/nowhere", "home": str(tmp_path / "stranger")}
    assert run(Grid({1: nodes[1], 2: stranger, 3: nodes[3], 4: nodes[2]}, late={4})) == list(SITES)


def test_a_node_that_rejected_is_asked_again_once_it_was_restarted(federation, caplog):
    nodes, run = federation
    first = {1: nodes[1], 2: nodes[2] | {"data": "/nowhere"}}
    grid = Grid(nodes, before=[first, {1: nodes[1]}])
    assert run(grid) == list(SITES)
    assert grid.asked.count(2) == 2
    assert grid.asked.count(1) == 1
    assert "no upload from" not in caplog.text


def test_a_node_that_obeys_another_coordinator_says_so_and_the_others_go_on(federation, tmp_path, caplog):
    nodes, run = federation
    stranger = own_identity(tmp_path / "stranger").public
    grid = Grid(nodes | {2: nodes[2] | {"coordinator": stranger}})
    assert run(grid, need=2, deadline=1.0) == ["north", "east"]
    assert "south): the job is signed by" in caplog.text
    assert grid.asked.count(2) == 1
    assert not (tmp_path / "south" / "flower").exists()


def test_a_node_that_cannot_use_its_disk_rejects_in_one_line(federation, tmp_path, caplog):
    nodes, run = federation
    (tmp_path / "file").write_text("no folder")
    assert run(Grid(nodes | {2: nodes[2] | {"home": str(tmp_path / "file")}}), need=2) == ["north", "east"]
    assert f"no upload from south: {tmp_path / 'file'}" in caplog.text
    assert "correct --node-config home and data" in caplog.text
    assert "Traceback" not in caplog.text


def test_a_bug_at_a_node_keeps_its_traceback_there_and_the_server_hears_a_rejection(federation, caplog):
    nodes, _ = federation
    message = train_request(1, {"job": b""})  # it does not say what the server has
    message.metadata.__dict__["_message_id"] = "message"
    answer = parse_answer(client.train(message, context(node_config=nodes[1], node=1)))
    assert answer.words == {
        "site": "north",
        "refused": "a bug in mooring (KeyError); the log of the node has its traceback, please report it",
    }
    assert "Traceback" in caplog.text


def test_two_nodes_that_speak_for_one_site_stop_the_run(federation, tmp_path):
    nodes, run = federation
    twin = nodes[3] | {"name": "north", "home": str(tmp_path / "twin")}
    grid = Grid({0: twin, 1: nodes[1], 2: nodes[2], 3: nodes[3]})
    with pytest.raises(FederationError, match="north: has files that are signed with different keys"):
        run(grid, need=2)
    assert run(grid, need=2, drop="north") == ["south", "east"]


def test_an_unusual_site_stops_the_run_and_a_second_run_with_a_decision_asks_no_node_again(federation, tmp_path):
    nodes, run = federation
    grid = Grid(nodes | {2: nodes[2] | {"data": nodes[1]["data"]}})  # south has the images of north
    with pytest.raises(ReviewError) as stopped:
        run(grid)
    assert [finding.partition(":")[0] for finding in stopped.value.findings] == ["north", "south"]
    assert 'keep="SITE,..."' in stopped.value.remedy
    assert "model.received" in stopped.value.remedy
    assert run(grid, keep="north, south") == list(SITES)
    assert run(grid, drop="south") == ["north", "east"]
    assert sorted(grid.asked) == [1, 2, 3]


def test_a_job_of_another_account_is_not_sent_to_anybody(federation, tmp_path, monkeypatch):
    nodes, run = federation
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "another"))
    grid = Grid(nodes)
    with pytest.raises(FederationError, match="and the key here is"):
        run(grid)
    assert grid.asked == []


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"job": ""}, '--run-config has no job; write job="/path/job.mooring"'),
        ({"job": 3}, "--run-config job=3: must be text; write "),
        ({"job": "/nowhere.mooring"}, "/nowhere.mooring: "),
        ({"out": "/"}, "--run-config out='/': is not a file; write out="),
        ({"out": "/dev/null/model.mooring"}, "model.received: cannot be made (Not a directory); choose another out"),
        ({"deadline": "soon"}, "--run-config deadline=soon: must be a number; write "),
        ({"deadline": -5}, "--run-config deadline=-5: must be above 0"),
        ({"deadline": float("nan")}, "--run-config deadline=NaN: must be a finite number"),
        ({"again": True}, "--run-config again=true: must be a number"),
        ({"need": -1}, "--run-config need=-1: must be 0 or more; write "),
        ({"need": 4}, "--run-config need=4: the job names 3 sites; write at most need=3"),
        (
            {"need": "all", "again": 0},
            "need=all: must be a whole number; --run-config again=0: must be above 0; ",
        ),
    ],
)
def test_a_mistake_in_the_runs_settings_is_one_line_before_anything_is_sent(federation, settings, problem):
    nodes, run = federation
    grid = Grid(nodes)
    with pytest.raises(FederationError) as error:
        run(grid, **settings)
    assert problem in str(error.value)
    assert grid.asked == []


def test_a_users_mistake_is_logged_without_a_traceback_and_a_bug_with_it(caplog):
    """The words are Flower's: so it logs what a ServerApp has raised."""
    for error in (FederationError("deadline=-5: is below 0", "give seconds"), ValueError("a bug")):
        record = server.LOG.makeRecord("flwr", 40, "", 0, "%s raised an exception", ("ServerApp",), sys_info(error))
        assert server.mistakes_are_one_line(record)
        caplog.handler.handle(record)
    first, *rest = caplog.text.splitlines()
    assert first.endswith("mooring: deadline=-5: is below 0; give seconds")
    assert rest[-1] == "ValueError: a bug"
    assert any("Traceback" in line for line in rest)


def test_flower_adds_no_unhandled_exception_to_a_users_mistake(monkeypatch):
    monkeypatch.setattr(server, "MISTAKES", [])
    text = f"Exit Code: 201\n\n{server.UNHANDLED}."
    last = server.LOG.makeRecord("flwr", 40, "", 0, text, (), None)
    assert server.mistakes_are_one_line(last)  # of a bug
    mistake = sys_info(FederationError("2 of 3 uploads", "ask again"))
    assert server.mistakes_are_one_line(server.LOG.makeRecord("flwr", 40, "", 0, "%s", ("ServerApp",), mistake))
    assert not server.mistakes_are_one_line(last)


def sys_info(error):
    try:
        raise error
    except Exception:
        return sys.exc_info()
