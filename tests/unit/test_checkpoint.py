"""A client that goes on from a kept state ends as if nothing had happened, to the byte."""

from dataclasses import replace
from itertools import count
from time import monotonic

import pytest
import torch
from safetensors.torch import load, save

from mooring.client import run_client
from mooring.data._sites import InMemorySite
from mooring.events import ClientProgress, ClientRecord
from mooring.methods import METHODS

TRAINED = [name for name, method in METHODS.items() if method.client.terms]


class Notebook:
    """Keeps every state as bytes; due at every tick it is asked."""

    def __init__(self, last=None, due=False):
        self.pages = []
        self.first = last
        self.always = due

    def last(self):
        return None if self.first is None else load(self.first)

    def due(self, step):
        return self.always

    def stopping(self):
        return False

    def keep(self, tensors):
        self.pages.append(save(dict(tensors)))


def same(one, other):
    assert [p.round for p in one] == [p.round for p in other]
    for a, b in zip(one, other, strict=True):
        assert all(torch.equal(a.tensors[name], b.tensors[name]) for name in a.tensors)


def records(events):
    return [replace(event, seconds=None) for event in events if isinstance(event, ClientRecord)]


def test_an_optimizer_per_round_has_no_momentum_from_the_round_before(make_job, shard_of):
    """A round of two is a training of one that starts from the uploaded weights of the other."""
    job, shard = make_job("v10", rounds=2), shard_of([0, 1, 5], 8)
    anew = replace(job, training=replace(job.training, optimizer="per-round"))
    book = Notebook()
    kept, new = (list(run_client(each, InMemorySite(4, shard), print, book)) for each in (job, anew))
    same(kept[:1], new[:1])
    assert any(not torch.equal(kept[1].tensors[name], new[1].tensors[name]) for name in kept[1].tensors)
    still = {
        name: v if name.partition(".")[0] != "velocity" else torch.zeros_like(v)
        for name, v in load(book.pages[0]).items()
    }
    same(new[1:], list(run_client(job, InMemorySite(4, shard), print, Notebook(save(still)))))
    same(new[1:], list(run_client(anew, InMemorySite(4, shard), print, Notebook(book.pages[2]))))


@pytest.mark.parametrize("name", TRAINED)
def test_from_a_round_boundary(name, make_job, shard_of):
    job, shard = make_job(name, rounds=3), shard_of([0, 1, 5], 8)
    events, again = [], []
    notebook = Notebook()
    whole = list(run_client(job, InMemorySite(4, shard), events.append, notebook))
    assert len(notebook.pages) == 3
    rest = list(run_client(job, InMemorySite(4, shard), again.append, Notebook(notebook.pages[0])))
    same(whole[1:], rest)
    assert records(events)[1:] == records(again)
    assert list(run_client(job, InMemorySite(4, shard), again.append, Notebook(notebook.pages[-1]))) == []
    assert load(notebook.pages[-1]).keys() == {"position"}  # nobody would read the rest


@pytest.mark.parametrize("name", ["v4", "v12", "random", "dwa", "hypergradient", "memory-bank", "v6"])
def test_from_the_middle_of_an_epoch(name, make_job, shard_of, monkeypatch):
    monkeypatch.setattr("mooring.client._loop.TICK_SECONDS", -1.0)  # every step is a tick
    job, shard = make_job(name, rounds=2, local_epochs=2), shard_of([2, 3, 4, 5], 20)
    job = replace(job, training=replace(job.training, batch_size=16))
    events, again = [], []
    notebook = Notebook(due=True)
    whole = list(run_client(job, InMemorySite(1, shard), events.append, notebook))
    steps = 5 * 2 * 2
    assert len(notebook.pages) == steps + 2
    for page in (0, 4, 5, 9, 12, steps - 1):
        again.clear()
        rest = list(run_client(job, InMemorySite(1, shard), again.append, Notebook(notebook.pages[page])))
        same(whole[-len(rest) :], rest)
        assert records(events)[-len(rest) :] == records(again)


def test_epochs_that_are_over_in_a_moment_are_no_reason_to_hear_nothing(make_job, shard_of, monkeypatch):
    """Each takes a tenth of a second here and a tick a quarter: Ctrl-C and a hand-over are heard all the same."""
    seconds = count(monotonic(), 0.1)
    monkeypatch.setattr("mooring.client._loop.monotonic", lambda: next(seconds))
    job, shard = make_job("v4", rounds=1, local_epochs=20), shard_of([2, 3], 8)
    events, notebook = [], Notebook(due=True)
    list(run_client(job, InMemorySite(1, shard), events.append, notebook))
    assert 20 > len(notebook.pages) > 5
    assert sum(isinstance(event, ClientProgress) for event in events) == len(notebook.pages)
