"""One text for one job: what every upload says it answers."""

import json
import pickle
from dataclasses import fields, replace
from hashlib import sha256

import pytest
import torch
from safetensors.torch import save_file

from mooring.client import ClientJob, Training, run_client
from mooring.data._sites import InMemorySite
from mooring.methods import METHODS
from mooring.models._feature_maps import EncoderFile, RandomFilters
from mooring.models._network import Blueprint
from mooring.uploads import LabelCounts, encode
from mooring.uploads._moments import Moments


@pytest.fixture(scope="module")
def job(make_job):
    return make_job("v7")


def test_the_text_tells_everything_in_plain_words(job):
    told = json.loads(job.canonical())
    assert told["classes"] == [str(c) for c in range(10)]
    assert told["model"]["backbone"] == {"kind": "digits_net", "width": 1}
    assert told["preprocessing"]["shape"] == [1, 8, 8]
    assert told["training"]["rounds"] == 1
    assert [need["kind"] for need in told["needs"]] == ["encoder", "label-counts", "prototypes"]
    assert told["recipe"]["align"]["weight"]["kind"] == "annealed"
    assert told["limits"]["bytes"] == job.limits.bytes
    assert told.keys() >= {f.name for f in fields(ClientJob)} - {"blueprint"}


def test_the_hash_is_that_of_the_text_and_the_same_in_every_process(job):
    assert job.sha256 == sha256(job.canonical().encode()).hexdigest()
    assert pickle.loads(pickle.dumps(job)).sha256 == job.sha256
    assert replace(job).canonical() == job.canonical()
    assert job.canonical().isascii()


OTHERS = {
    "seed": lambda job: replace(job, seed=2),
    "mirror": lambda job: replace(job, mirror=True),
    "training": lambda job: replace(job, training=Training(rounds=2)),
    "recipe": lambda job: replace(job, recipe=METHODS["v9"].client),
    "needs": lambda job: replace(job, needs=job.needs - {LabelCounts()}),
    "settings of a need": lambda job: replace(job, needs=job.needs | {Moments(RandomFilters(seed=1), "shared")}),
    "class names": lambda job: replace(job, blueprint=replace(job.blueprint, classes=tuple("abcdefghij"))),
    "normalisation": lambda job: replace(job, blueprint=replace(job.blueprint, std=(0.25,))),
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_whatever_a_client_would_do_otherwise_is_another_job(change, job):
    assert change(job).sha256 != job.sha256


@pytest.mark.parametrize("field", [f.name for f in fields(Blueprint)])
def test_no_field_of_the_blueprint_is_left_out(field, job):
    model = json.loads(job.canonical())
    assert field in model["model"] | model["preprocessing"] | {"classes": 0}


def test_another_bank_is_another_job(make_job):
    job = make_job("v6")
    bank = job.bank
    other = replace(job, bank=replace(bank, features=bank.features.flip(0)))
    labelled = replace(job, bank=replace(bank, labels=torch.zeros(len(bank.features), dtype=torch.int64)))
    assert len({job.sha256, other.sha256, labelled.sha256, replace(job, bank=None).sha256}) == 4


def test_a_file_is_told_by_its_content_wherever_it_lies(make_job, tmp_path):
    job = make_job()
    state = {n: t.contiguous() for n, t in job.blueprint.build(torch.Generator()).encoder.state_dict().items()}
    here, there = tmp_path / "here.safetensors", tmp_path / "there.safetensors"
    save_file(state, here)
    save_file(state, there)

    def hash_with(path):
        return replace(job, needs=frozenset({Moments(EncoderFile(str(path)), "shared")})).sha256

    first = hash_with(here)
    assert hash_with(there) == first
    assert str(tmp_path) not in replace(job, needs=frozenset({Moments(EncoderFile(str(here)), "shared")})).canonical()
    save_file({name: 2 * tensor for name, tensor in state.items()}, there)
    assert hash_with(there) != first


def test_every_upload_carries_the_hash_and_fits_the_limits(job, shard_of):
    uploads = list(run_client(job, InMemorySite(0, shard_of([1, 2], 10)), lambda _: None))
    assert [upload.job for upload in uploads] == [job.sha256]
    size = len(encode(uploads[0]))
    assert uploads[0].nbytes < size <= job.limits.bytes
