"""Flower over a network that fails: nodes die, connections break, the SuperLink is started again; nothing is lost."""

import random
import socket
import threading
from contextlib import suppress

import pytest

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from flower_network import network, until, write_images
from warm_commands import warm_commands

from mooring.client import run_client
from mooring.config import load
from mooring.events import silent
from mooring.federation import _container as container
from mooring.federation._job_file import read_job
from mooring.federation._keys import own_identity
from mooring.federation._log import Log
from mooring.federation._model_file import load_model
from mooring.federation._plan import plan
from mooring.federation._train import folder_of
from mooring.federation._upload_file import read_upload
from mooring.uploads._codec import encode

SETTINGS = ("method=v7", "model=digits_net", "data.source=image_folder", "data.size=16", "data.channels=1")


@pytest.fixture
def prepared(tmp_path, monkeypatch):
    """Two sites, their images, and a SuperLink that is to know them; nodes are not started yet."""
    images_of_two_sites(tmp_path, monkeypatch)
    with network(tmp_path, "north", "south") as net:
        yield net


@pytest.fixture
def prepared_warm(tmp_path, monkeypatch, forking):
    """The same with commands that begin at once; for a test that kills none of them."""
    images_of_two_sites(tmp_path, monkeypatch)
    with warm_commands() as launchers, network(tmp_path, "north", "south", commands=launchers) as net:
        yield net


def images_of_two_sites(tmp_path, monkeypatch):
    monkeypatch.setenv("MOORING_HOME", str(tmp_path / "coordinator"))
    write_images(tmp_path / "images" / "north", (0, 1), slice(0, 10))
    write_images(tmp_path / "images" / "south", (1, 2), slice(40, 110))


def started(net, database=True):
    net.superlink(database)
    for site in net.sites:
        net.register(site)
    return own_identity().public


def planned(net, *training):
    [experiment] = load(None, [*SETTINGS, "training.snapshots=last", *training])
    data, _ = plan(experiment, ["0", "1", "2"], net.sites, own_identity())
    (net.folder / "job.mooring").write_bytes(data)
    return read_job(net.folder / "job.mooring")


def run_of(net, **settings):
    return net.submit(job=net.folder / "job.mooring", out=net.folder / "model.mooring", **settings)


def equals_local(net, job, site):
    [path] = (net.folder / "model.received").glob(f"{site}-*.mooring")
    *_, last = run_client(job.work, folder_of(job, site, net.folder / "images" / site), silent)
    return encode(read_upload(path).upload) == encode(last)


def trainings(net, site):
    return sum(entry.action == "trained" for entry in Log(net.folder / f"home-{site}").entries())


def used(net):
    return [site.name for site in load_model(net.folder / "model.mooring").provenance.used]


@pytest.mark.slow
def test_a_node_killed_in_training_is_missed_by_the_deadline_and_goes_on_from_its_state_in_the_next_run(prepared):
    net, key = prepared, started(prepared)
    job = planned(net, "training.rounds=30", "training.local_epochs=3")
    for site in net.sites:
        net.node(site, key)
    first = run_of(net, need=1, deadline=60.0)
    until("south trains", lambda: list((net.folder / "home-south").glob("training/*/state/*.state")))
    net.stop("south")
    said = net.ended(first)
    assert "nothing from south" in said
    assert used(net) == ["north"]
    net.stop("superlink")
    net.superlink()  # with its database: it knows the nodes, and they find it again
    net.node("south", key)
    said = net.ended(run_of(net, deadline=400.0))
    assert used(net) == ["north", "south"]
    assert "mooring: goes on at round" in net.log("south")
    assert [trainings(net, site) for site in net.sites] == [1, 1]
    assert equals_local(net, job, "north")
    assert equals_local(net, job, "south")


class Cutter:
    """A proxy that breaks the first connections that carry more than so many bytes to the SuperLink."""

    def __init__(self, port, most=40_000, cuts=3):
        self.port, self.most, self.left, self.cuts = port, most, cuts, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.own = self.listener.getsockname()[1]
        self.sockets, self.threads = [self.listener], []
        self.start(self.accept)

    def start(self, what, *arguments):
        thread = threading.Thread(target=what, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def accept(self):
        with suppress(OSError):
            while True:
                here, _ = self.listener.accept()
                self.sockets.append(here)
                there = socket.create_connection(("127.0.0.1", self.port))
                self.sockets.append(there)
                self.start(self.carry, here, there, True)
                self.start(self.carry, there, here, False)

    def carry(self, source, target, counted):
        carried = 0
        with suppress(OSError):
            while data := source.recv(16_384):
                carried += len(data)
                if counted and carried > self.most and self.left:
                    self.left -= 1
                    self.cuts += 1
                    break
                target.sendall(data)
        shut(source, target)

    def close(self):
        shut(*self.sockets)
        for thread in self.threads:
            thread.join()
        for one in self.sockets:
            one.close()


def shut(*sockets):
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_breaks_in_the_middle_of_an_upload_loses_no_training(prepared_warm):
    net, key = prepared_warm, started(prepared_warm)
    job = planned(net, "training.rounds=1", "training.local_epochs=1")
    proxy = Cutter(net.port)
    net.node("north", key)
    net.node("south", key, port=proxy.own)
    try:
        net.ended(run_of(net, deadline=400.0, again=5.0))
    finally:
        proxy.close()
    assert proxy.cuts > 0
    assert used(net) == ["north", "south"]
    assert [trainings(net, site) for site in net.sites] == [1, 1]
    assert equals_local(net, job, "south")


@pytest.mark.slow
def test_a_reply_of_200_mb_arrives_whole(prepared):
    """What a node has on its disk for a job is sent, and judged by the server: this is large, and nobody signed it."""
    net, key, job = prepared, started(prepared, database=False), planned(prepared, "training.rounds=1")
    large = container.encode("upload", {"job": job.sha256}, random.Random(1).randbytes(200_000_000))
    path = net.folder / "home-north" / "flower" / f"{job.sha256[:16]}-north.mooring"
    path.parent.mkdir(parents=True)
    path.write_bytes(large)
    net.node("north", key)
    said = net.ended(run_of(net, need=1, deadline=200.0))
    assert f"has {len(large)} bytes and may have" in said
