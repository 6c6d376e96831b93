import pytest
import torch

from mooring.client import run_client
from mooring.client._first_network import borrowed, first_network
from mooring.data._sites import InMemorySite
from mooring.methods import METHODS


def uploads(job, shard, client):
    return [upload.tensors for upload in run_client(job, InMemorySite(client, shard), lambda _: None)]


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.client.terms])
def test_a_client_is_the_same_whoever_trained_before_it(method, make_job, shard_of):
    job = make_job(method, rounds=2)
    fresh = uploads(job, shard_of([0, 1, 2], 9), 3)
    uploads(job, shard_of([4], 30), 1)
    assert all(map(same, fresh, uploads(job, shard_of([0, 1, 2], 9), 3)))


def test_two_clients_at_a_time_never_share_a_network(make_job):
    job = make_job()
    with borrowed(job) as one, borrowed(job) as other:
        assert one is not other


def test_a_network_comes_back_as_it_was_built_even_after_a_failure(make_job):
    job = make_job()
    with pytest.raises(ValueError), borrowed(job) as network:
        for value in (*network.parameters(), *network.buffers()):
            value.data.fill_(7)
        raise ValueError
    with borrowed(job) as again:
        assert again is network
        assert same(again.state_dict(), first_network(job).state_dict())


def test_another_seed_gets_another_network(make_job):
    with borrowed(make_job(seed=1)) as one:
        pass
    with borrowed(make_job(seed=2)) as other:
        assert one is not other
