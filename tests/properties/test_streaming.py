"""Rules that add up take one upload after the other: what the server holds does not grow with the clients."""

import weakref
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from untrained import PLAN, upload_of

from mooring.fusion import FUSIONS, fuse
from mooring.fusion._base import Server
from mooring.record import RunFolder, StoredUploads

STREAMING = [kind for kind, rule in FUSIONS.items() if rule.streams]


class Fresh(Sequence):
    """Uploads that are made anew whenever one is asked for; it knows how many were alive together."""

    def __init__(self, uploads):
        self.uploads, self.alive, self.most = uploads, 0, 0

    def __len__(self):
        return len(self.uploads)

    def __getitem__(self, index):
        upload = self.uploads[index]
        tensors = {name: tensor.clone() for name, tensor in upload.tensors.items()}
        for tensor in tensors.values():
            weakref.finalize(tensor, self.gone)
        self.alive += len(tensors)
        self.most = max(self.most, self.alive / len(tensors))
        return replace(upload, tensors=tensors)

    def gone(self):
        self.alive -= 1


@pytest.fixture(scope="module")
def made(shard_of):
    needs = frozenset().union(*(FUSIONS[kind]().needs for kind in STREAMING))
    return [upload_of(PLAN, shard_of([k, k + 1, k + 2], 6), k, needs) for k in range(6)]


def test_sums_and_averages_stream():
    assert {"parameter-average", "analytic", "linear-head", "gaussian-head"} <= set(STREAMING)


@pytest.mark.parametrize("kind", STREAMING)
def test_no_more_than_two_uploads_are_held_and_no_bit_changes(kind, made, digits):
    images, fresh = digits.images[:50], Fresh(made)
    streamed = fuse(FUSIONS[kind](), fresh, Server(PLAN))(images)
    assert torch.equal(streamed, fuse(FUSIONS[kind](), made, Server(PLAN))(images))
    assert fresh.most <= 2  # the one that is added, and its predecessor until it is let go


def test_uploads_of_a_run_are_read_when_they_are_asked_for(v12_run):
    folder = RunFolder(v12_run)
    stored = StoredUploads(folder, folder.result.uploads)
    assert [upload.client for upload in stored] == [record.client for record in folder.result.uploads]
    assert stored[1:][0].client == folder.result.uploads[1].client


@pytest.mark.parametrize("small", [True, False])
def test_uploads_that_are_small_together_are_read_once(v12_run, monkeypatch, small):
    folder = RunFolder(v12_run)
    monkeypatch.setattr(
        "mooring.record._folder.SMALL", sum(record.bytes for record in folder.result.uploads) - (not small)
    )
    stored = StoredUploads(folder, folder.result.uploads)
    first, again = list(stored), list(stored)
    assert [one is other for one, other in zip(first, again, strict=True)] == [small] * len(first)
    assert all(
        torch.equal(one.tensors[name], other.tensors[name])
        for one, other in zip(first, again, strict=True)
        for name in one.tensors
    )
