"""Clients on other devices, without one: the meta device refuses every tensor that was forgotten on the CPU."""

from dataclasses import replace

import pytest
import torch

from mooring import load
from mooring.client import run_client
from mooring.client._device import CPU, Device
from mooring.client._loop import facts_of, train_step
from mooring.client._state import ClientState
from mooring.data._sites import InMemorySite
from mooring.methods import METHODS
from mooring.models._network import Blueprint
from mooring.types import Progress

ELSEWHERE = Device("meta")
BEGINNING, LATER = (
    Progress(0, 100, 0, 5, 0, 10),
    Progress(60, 100, 3, 5, 6, 10),
)  # in stage 1, and after it
TRAINED = [name for name, method in METHODS.items() if method.client.terms]


@pytest.mark.parametrize("method", TRAINED)
def test_a_step_leaves_nothing_on_the_cpu(method, make_job, shard_of):
    job, shard = make_job(method, rounds=10), shard_of(range(10), 2)
    state = ClientState.start(job, facts_of(job, shard.label_counts(), 0), None, ELSEWHERE)
    images, labels = map(ELSEWHERE.take, (shard.images, shard.labels))
    for progress in (BEGINNING, LATER) if METHODS[method].bank else (LATER,):
        measured = train_step(job, state, images, labels, progress)
        state.measurements.add(measured)
    assert all(parameter.is_meta for parameter in state.network.parameters())
    assert all(v.is_meta for group in state.optimizer.groups for v in group.velocity.values())


@pytest.mark.parametrize("method", sorted(METHODS.keys() - set(TRAINED)))
def test_who_trains_nothing_computes_on_the_cpu_whatever_the_device(method, make_job, shard_of):
    job, site = make_job(method), InMemorySite(0, shard_of(range(10), 3))
    here, elsewhere = (list(run_client(job, site, lambda _: None, device=device)) for device in (CPU, ELSEWHERE))
    assert len(here) == len(elsewhere) == 1
    assert all(torch.equal(here[0].tensors[name], tensor) for name, tensor in elsewhere[0].tensors.items())


def test_colours_too(make_job):
    job = make_job("v12")
    coloured = replace(job.blueprint, shape=(3, 16, 16), mean=(0.5,), std=(0.25,))
    assert isinstance(coloured, Blueprint)
    job = replace(job, blueprint=coloured)
    state = ClientState.start(job, facts_of(job, (2,) * 10, 0), None, ELSEWHERE)
    images, labels = torch.zeros(4, 3, 16, 16, dtype=torch.uint8), torch.zeros(4, dtype=torch.int64)
    train_step(job, state, ELSEWHERE.take(images), ELSEWHERE.take(labels), Progress(0, 10))


def test_bfloat16_learns_nearly_the_same(make_job, shard_of):
    shard = shard_of(range(10), 10)
    jobs = [make_job("v7", local_epochs=3, precision=precision) for precision in ("float32", "bfloat16")]
    exact, half = (list(run_client(job, InMemorySite(0, shard), lambda _: None))[-1].tensors for job in jobs)
    assert jobs[0].sha256 == make_job("v7", local_epochs=3).sha256 != jobs[1].sha256
    assert exact.keys() == half.keys()
    assert all(tensor.dtype == half[name].dtype for name, tensor in exact.items())
    p, q = exact["head.prototypes"].flatten(), half["head.prototypes"].flatten()
    assert not torch.equal(p, q)
    assert torch.cosine_similarity(p, q, 0) > 0.99


def test_the_precision_is_part_of_the_fingerprint_and_leaves_old_ones_alone():
    fingerprints = [load(overrides=words)[0].fingerprint() for words in ([], ["training.precision=float32"])]
    assert fingerprints[0] == fingerprints[1]
    assert load(overrides=["training.precision=bfloat16"])[0].fingerprint() != fingerprints[0]


def test_a_gpu_that_is_not_there_is_rejected(cli):
    if torch.cuda.is_available():
        pytest.skip("that a missing GPU is refused: this machine has one")
    code, _, err = cli("run", "engine.device=cuda")
    assert code == 2
    assert "engine.device=cuda: this machine has no GPU that torch can use; set engine.device=auto" in err
