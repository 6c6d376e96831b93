"""The door of the server: every upload is checked once, here, before any rule sees it."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import overload

import torch
from torch import Tensor

from mooring.errors import FusionError
from mooring.fusion._base import Fusion, Server
from mooring.fusion._predictor import Predictor
from mooring.models import Blueprint
from mooring.processes import threads
from mooring.types import Upload
from mooring.uploads import Part, Parts, UploadFacts, combine_tensors

AGAIN = "ask the client to upload again"


@dataclass(frozen=True)
class Rejection:
    """An upload that was set aside, and everything that is wrong with it."""

    client: int
    site: str
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Admission:
    """Uploads that a rule may see, by client number and with nothing but what it needs; and those it may not."""

    admitted: Sequence[Upload]
    rejected: tuple[Rejection, ...]


@dataclass(frozen=True)
class Narrowed(Sequence[Upload]):
    """Some of these uploads, in this order, with these tensors alone; each is taken up when it is asked for."""

    uploads: Sequence[Upload]
    places: tuple[int, ...]
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Upload: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Upload]: ...
    def __getitem__(self, index: int | slice) -> Upload | Sequence[Upload]:
        if isinstance(index, slice):
            return replace(self, places=self.places[index])
        upload = self.uploads[self.places[index]]
        return replace(upload, tensors={name: upload.tensors[name] for name in self.names})


@dataclass(frozen=True)
class Problem:
    text: str
    remedy: str


@dataclass(frozen=True)
class Wanted:
    """What every upload is held against."""

    parts: tuple[tuple[Part, Mapping[str, Tensor]], ...]  # each with its tensors, shapes and types only
    job: str | None


@dataclass(frozen=True)
class CheckedUpload:
    """What is remembered of an upload that was looked at."""

    client: int
    site: str
    place: int  # among those given
    problems: tuple[Problem, ...]


TWICE = Problem("uploaded twice", "fuse one upload of each client")


def fuse(
    fusion: Fusion, uploads: Sequence[Upload], server: Server, job: str | None = None, strict: bool = True
) -> Predictor:
    """Admit, then fuse. The order of arrival does not change a bit of the result."""
    admitted = admit(uploads, fusion.needs, server.blueprint, job, strict).admitted
    if not admitted:
        raise FusionError("there is nothing to fuse: no upload was admitted", "ask the clients to upload again")
    return fusion(admitted if fusion.streams else tuple(admitted), server)


def admit(
    uploads: Sequence[Upload], needs: Parts, blueprint: Blueprint, job: str | None = None, strict: bool = True
) -> Admission:
    """Uploads by client number, each checked against the parts that are needed, and against the SHA-256 of its job.

    `strict` stops at the first problem; otherwise bad uploads are set aside, with all that is wrong with them. One
    upload is looked at after the other: those that lie on disk need not be in memory together.
    """
    if not uploads:
        raise FusionError("there is nothing to fuse: no client has uploaded", "check partition.clients and the data")
    parts = tuple(sorted(((part, part.expected(blueprint)) for part in needs), key=lambda pair: list(pair[1])))
    wanted, names = Wanted(parts, job), tuple(combine_tensors(parts))
    with threads(1):  # many small tensors: two threads would wait for each other
        looked = [looked_at(upload, place, wanted) for place, upload in enumerate(uploads)]
    times = Counter(each.client for each in looked)
    admitted, rejected = [], []
    for each in sorted(looked, key=lambda each: each.client):
        found = (*([TWICE] if times[each.client] > 1 else []), *each.problems)
        if strict and found:
            raise FusionError(f"client {each.client}: {found[0].text}", found[0].remedy)
        if found:
            rejected.append(Rejection(each.client, each.site, tuple(problem.text for problem in found)))
        else:
            admitted.append(each.place)
    return Admission(Narrowed(uploads, tuple(admitted), names), tuple(rejected))


def looked_at(upload: Upload, place: int, wanted: Wanted) -> CheckedUpload:
    return CheckedUpload(upload.client, upload.site, place, tuple(problems_of(upload, wanted)))


def problems_of(upload: Upload, wanted: Wanted) -> Iterator[Problem]:
    """All that is wrong with one upload, taken by itself."""
    if upload.samples < 1:
        yield Problem(f"claims {upload.samples} samples", "leave this client out")
    if wanted.job is not None and upload.job != wanted.job:
        answered = f"job {upload.job[:8]}" if upload.job else "no job"
        yield Problem(f"answers {answered}, not {wanted.job[:8]}", "ask the client to train for this job")
    for part, expected in wanted.parts:
        own = [problem for name in expected for problem in misfits(name, upload.tensors.get(name), expected[name])]
        yield from own
        if not own:
            tensors = {name: upload.tensors[name] for name in expected}
            for text in part.check(tensors, UploadFacts(upload.samples)):
                yield Problem(text, f"{AGAIN}, or leave it out")


def misfits(name: str, given: Tensor | None, expected: Tensor) -> Iterator[Problem]:
    """The first thing that keeps a tensor from being what was asked for."""
    if given is None:
        yield Problem(f"tensor {name!r} is missing", AGAIN)
    elif given.shape != expected.shape:
        shapes = f"{tuple(given.shape)}, not {tuple(expected.shape)}"
        yield Problem(f"tensor {name!r} has shape {shapes}", "all clients must train the model of the job")
    elif given.dtype != expected.dtype:
        yield Problem(f"tensor {name!r} holds {given.dtype}, not {expected.dtype}", AGAIN)
    elif not torch.isfinite(given).all():
        yield Problem(f"tensor {name!r} holds values that are not finite", "leave this client out")
