"""What a sweep is made of and how each of its runs ended: the types behind `sweep.json`."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mooring.record.files import read_json, unsealed, write_record
from mooring.record.result import FORMAT

SWEEP = "sweep.json"
AGAIN = "run the sweep again: it keeps what is finished and writes this file anew"


@dataclass(frozen=True)
class SweepMember:
    """One run of a sweep: its factors, how it ended, and the folder in `runs/` that trained it.

    Members that differ only in their fusion share one training.
    """

    name: str
    factors: Mapping[str, object]
    status: str  # `finished`, or why not
    run: str

    @property
    def trains(self) -> bool:
        return self.run == self.name


@dataclass(frozen=True)
class SweepRecord:
    """What `sweep.json` says, in the order of the plan."""

    members: tuple[SweepMember, ...]
    baseline: str | None = None  # factor=value that the others are compared with
    format: int = FORMAT


def write_sweep(folder: Path, record: SweepRecord) -> None:
    write_record(folder / SWEEP, record)


def read_sweep(folder: Path) -> SweepRecord:
    return unsealed(SweepRecord, read_json(folder / SWEEP, AGAIN), folder / SWEEP, AGAIN)
