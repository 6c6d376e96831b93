"""A partition from a file: made elsewhere, or frozen here to be used again."""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np

from mooring.data._partition.base import (
    Ints,
    Partition,
    Population,
    SplitSeed,
    partition_digest,
)
from mooring.errors import PartitionError, nearest
from mooring.schema import Checked, Doc, FilePath

FORMAT = 1
KEYS = ("format", "samples", "clients", "sha256")


@dataclass(frozen=True)
class FromFile(Checked):
    """The clients written in a JSON file; nothing is random, `seed` changes nothing.

    {"format": 1, "samples": N, "clients": [[index, ...], ...], "sha256": "..."}

    No image may be at two clients; some may be at none. A file written by hand may leave out `sha256`.
    """

    path: Annotated[FilePath, Doc("a partition written by `mooring partition --export`")]
    kind: ClassVar[str] = "file"
    seed: SplitSeed = None

    def split(self, population: Population, rng: np.random.Generator) -> list[Ints]:
        content = self._read()
        if content["samples"] != len(population):
            raise self._error(
                f"is for samples = {content['samples']!r}, the training data has {len(population)} images",
                "use the source, limit and validation it was made for, or export it again",
            )
        indices = self._clients(content["clients"], len(population))
        found, written = partition_digest(len(population), indices), content.get("sha256")
        if written not in (None, found):
            raise self._error(
                f"has sha256 = {written!r}, its content has {found!r}",
                "it was changed after it was written: restore it, or remove sha256 if the change is meant",
            )
        return indices

    def _error(self, problem: str, remedy: str) -> PartitionError:
        return PartitionError(f"partition file {self.path} {problem}", remedy)

    def _read(self) -> dict[str, object]:
        try:
            content = json.loads(Path(self.path).read_text(encoding="utf-8"))
        except OSError as error:
            raise self._error(f"cannot be read ({error.strerror})", "check the path") from error
        except (ValueError, RecursionError) as error:
            raise self._error("is not JSON", "write it with mooring.data.export_partition") from error
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise self._error(f"is not of format {FORMAT}", "write it with mooring.data.export_partition")
        for key in content:
            if key not in KEYS:
                raise self._error(f"has an unknown key {key!r}", nearest(key, KEYS))
        for key in ("samples", "clients"):
            if key not in content:
                raise self._error(f"has no {key!r}", f"it needs {', '.join(KEYS[:3])}")
        return content

    def _clients(self, clients: object, samples: int) -> list[Ints]:
        if not isinstance(clients, list) or not clients or not all(isinstance(client, list) for client in clients):
            raise self._error("has no list of clients", 'write "clients": [[0, 3], [1, 2]], one list per client')
        owner: dict[int, int] = {}
        for k, client in enumerate(clients):
            for index in client:
                if type(index) is not int or not 0 <= index < samples:  # a bool is an int to isinstance
                    raise self._error(f"has index {index!r} at client {k}", f"indices go from 0 to {samples - 1}")
                if index in owner:
                    raise self._error(
                        f"has image {index} twice, at client {owner[index]} and at client {k}",
                        "remove one; for overlapping clients use fafi_overlap with a seed",
                    )
                owner[index] = k
        return [np.sort(np.array(client, dtype=np.int64)) for client in clients]


def export_partition(partition: Partition, path: str | Path) -> None:
    """Write a partition for `FromFile`; a reader sees the old file or the whole new one, never a part."""
    if partition.overlap > 1:
        raise PartitionError("an overlapping partition cannot be exported", "keep its partitioner and seed instead")
    content = {
        "format": FORMAT,
        "samples": partition.samples,
        "clients": [client.tolist() for client in partition.indices],
        "sha256": partition.sha256,
    }
    target = Path(path)
    draft = target.parent / f".{target.name}.{os.getpid()}"
    try:
        draft.write_text(json.dumps(content), encoding="utf-8")
        draft.replace(target)
    except OSError as error:
        raise PartitionError(f"cannot write {path} ({error.strerror})", "choose another folder") from error
    finally:
        with suppress(OSError):
            draft.unlink()  # there only when something went wrong
