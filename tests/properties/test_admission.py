"""The door of the server: what comes in, and what is told of those who do not."""

import re
from dataclasses import replace

import pytest
import torch
from untrained import NEEDS, PLAN, changed, upload_of

from mooring.errors import FusionError
from mooring.fusion import FUSIONS, ClassExpert, Rejection, admit, fuse
from mooring.fusion._base import Server
from mooring.models._network import PROTOTYPES
from mooring.uploads._classes import LABEL_COUNTS

JOB = "ab" * 32


@pytest.fixture(scope="module")
def uploads(shard_of):
    shards = [shard_of([0, 1, 2], 8), shard_of([2, 3, 4, 5], 5), shard_of([5, 6], 4)]
    made = [upload_of(PLAN, shard, k) for k, shard in enumerate(shards)]
    return [replace(upload, job=JOB, site=site) for upload, site in zip(made, ("north", "south", "east"), strict=True)]


SPOILT = {
    "missing": (lambda u: replace(u, tensors={n: t for n, t in u.tensors.items() if n != PROTOTYPES}), "is missing"),
    "misshapen": (lambda u: changed(u, **{PROTOTYPES: u.tensors[PROTOTYPES][:, :5]}), r"has shape \(10, 5\), not \(10"),
    "wrong type": (lambda u: changed(u, **{PROTOTYPES: u.tensors[PROTOTYPES].double()}), "holds torch.float64, not"),
    "not finite": (lambda u: changed(u, **{PROTOTYPES: u.tensors[PROTOTYPES] / 0}), "values that are not finite"),
    "counts": (lambda u: changed(u, **{LABEL_COUNTS: u.tensors[LABEL_COUNTS] + 1}), "does not add up to its 20"),
    "no images": (lambda u: replace(u, samples=0), "claims 0 samples"),
    "other job": (lambda u: replace(u, job="cd" * 32), "answers job cdcdcdcd, not abababab"),
    "no job": (lambda u: replace(u, job=""), "answers no job, not abababab"),
}
every_fault = pytest.mark.parametrize(("spoil", "message"), SPOILT.values(), ids=SPOILT)


@every_fault
def test_a_strict_server_stops_with_client_fault_and_remedy(spoil, message, uploads):
    bad = [uploads[0], spoil(uploads[1]), uploads[2]]
    with pytest.raises(FusionError, match=f"client 1: .*{message}") as told:
        admit(bad, ClassExpert.needs, PLAN, JOB)
    assert told.value.remedy
    assert len(str(told.value).splitlines()) == 1


@every_fault
def test_otherwise_the_bad_one_is_set_aside_with_its_reason(spoil, message, uploads):
    bad = [uploads[2], spoil(uploads[1]), uploads[0]]
    admission = admit(bad, ClassExpert.needs, PLAN, JOB, strict=False)
    assert [upload.client for upload in admission.admitted] == [0, 2]
    [rejection] = admission.rejected
    assert (rejection.client, rejection.site) == (1, "south")
    assert any(re.search(message, problem) for problem in rejection.problems)


def test_everything_that_is_wrong_is_told(uploads):
    broken = replace(uploads[1], samples=0, job="")
    broken = changed(broken, **{PROTOTYPES: torch.zeros(1), LABEL_COUNTS: -uploads[1].tensors[LABEL_COUNTS]})
    [rejection] = admit([broken], ClassExpert.needs, PLAN, JOB, strict=False).rejected
    assert len(rejection.problems) == 4


def test_who_uploaded_twice_is_not_chosen_from(uploads):
    twice = [*uploads, replace(uploads[1], samples=21)]
    with pytest.raises(FusionError, match="client 1: uploaded twice; fuse one upload of each client"):
        admit(twice, ClassExpert.needs, PLAN)
    for order in (twice, twice[::-1]):
        admission = admit(order, ClassExpert.needs, PLAN, strict=False)
        assert [upload.client for upload in admission.admitted] == [0, 2]
        assert {rejection.client for rejection in admission.rejected} == {1}


def test_uploads_come_in_by_number_with_what_is_needed_and_nothing_else(uploads):
    admission = admit(uploads[::-1], ClassExpert.needs, PLAN)
    assert admission.rejected == ()
    assert [upload.client for upload in admission.admitted] == [0, 1, 2]
    needed = {name for part in ClassExpert.needs for name in part.expected(PLAN)}
    assert all(set(upload.tensors) == needed < set(uploads[0].tensors) for upload in admission.admitted)
    assert admission.admitted[0].site == "north"


def test_without_a_job_any_job_is_welcome(uploads):
    others = [replace(upload, job=str(k)) for k, upload in enumerate(uploads)]
    assert len(admit(others, NEEDS, PLAN).admitted) == 3


def test_fusing_leaves_the_bad_ones_out_or_stops(uploads, digits):
    server, images = Server(PLAN), digits.images[:20]
    bad = [uploads[0], changed(uploads[1], **{LABEL_COUNTS: torch.zeros(10)}), uploads[2]]
    with pytest.raises(FusionError, match="client 1"):
        fuse(ClassExpert(), bad, server)
    left = fuse(ClassExpert(), bad, server, strict=False)
    assert torch.equal(left(images), fuse(ClassExpert(), [uploads[2], uploads[0]], server)(images))
    with pytest.raises(FusionError, match="nothing to fuse"):
        fuse(ClassExpert(), bad[1:2], server, strict=False)


@pytest.mark.parametrize("kind", FUSIONS)
def test_every_rule_hears_of_a_rejection_through_the_door(kind, uploads):
    fusion = FUSIONS[kind]()
    empty = replace(uploads[0], tensors={})
    [rejection] = admit([empty], fusion.needs, PLAN, strict=False).rejected
    expected = {name for part in fusion.needs for name in part.expected(PLAN)}
    assert rejection == Rejection(0, "north", rejection.problems)
    assert set(rejection.problems) == {f"tensor {name!r} is missing" for name in expected}
