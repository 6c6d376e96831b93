"""Three equal clients on two workers: one of them is begun by one worker and ended by the other, and nothing shows."""

from collections import Counter

import pytest

from mooring import load
from mooring.client._checkpoint import step_of_state, will_train
from mooring.client._loop import facts_of
from mooring.engines import Local
from mooring.engines._worker import turns
from mooring.events import ClientRecord, ClientResumed, ClientStarted
from mooring.execution import prepare
from mooring.uploads._codec import encode

SHORT = ("data.limit=240", "partition=iid", "partition.clients=3", "training.rounds=4", "training.local_epochs=1")


class Remembered:
    """States in memory: where each client stood when one was kept."""

    def __init__(self):
        self.steps, self.newest = [], {}

    def last(self, client):
        return self.newest.get(client)

    def keep(self, client, tensors):
        self.steps.append((client, step_of_state(tensors), will_train(tensors)))
        self.newest[client] = tensors


@pytest.mark.parametrize("method", ["v12", "memory-bank"])
def test_a_client_that_changes_its_worker_uploads_the_same_bytes(method):
    [experiment] = load(overrides=[f"method={method}", *SHORT])
    federation, job = prepare(experiment)
    sites = federation.sites()
    steps = {site.number: facts_of(job, (site.size,), site.number).steps for site in sites}
    [divided] = [turn for turn in turns(steps, 2) if turn.until is not None]

    def collected(workers):
        events, states = [], Remembered()
        uploads = Local(workers=workers).collect(job, sites, events.append, states)
        return {(upload.client, upload.round): encode(upload) for upload in uploads}, events, states

    (alone, _, _), (apart, events, states) = collected(1), collected(2)
    assert apart == alone
    said = Counter(type(event) for event in events)
    assert said[ClientStarted] == 3
    assert said[ClientResumed] == 0
    assert said[ClientRecord] == 12
    order = [(client, step) for client, step, goes_on in states.steps if goes_on]
    left = order.index((divided.client, divided.until))
    assert divided.client in [client for client, _ in order[left + 1 :]]
