"""The types behind `study.json`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from mooring.record import check_seal, read_json, write_record
from mooring.reports import Cell, Plot, Spread

STUDY = "study.json"
AGAIN = "run the study again"

ClaimAnswer = Literal["confirmed", "not confirmed", "cannot be seen at this scale", "was not run"]
CONFIRMED: ClaimAnswer = "confirmed"
REFUTED: ClaimAnswer = "not confirmed"
UNDECIDED: ClaimAnswer = "cannot be seen at this scale"  # the runs are there, and they do not decide
NOT_RUN: ClaimAnswer = "was not run"  # the scale leaves the sweep out, or its runs have not finished
ANSWERS: tuple[ClaimAnswer, ...] = get_args(ClaimAnswer)


@dataclass(frozen=True)
class MainNumber:
    """The number that decides a claim, over seeds; `name` says what it is if it is not the measure itself."""

    value: Spread
    name: str = ""


@dataclass(frozen=True)
class DecidedClaim:
    """A claim of a note and the study's verdict on it."""

    id: str
    claim: str
    verdict: str
    phrase: str = ""  # in the note's own words
    where: str = ""
    documented: str = ""
    measured: str = ""
    reason: str = ""
    remark: str = ""  # by the author of the study
    number: MainNumber | None = None

    @property
    def why(self) -> str:
        return ". ".join(part for part in (self.reason, self.remark) if part)


@dataclass(frozen=True)
class Observation:
    """A main claim in plain words, with its verdict and numbers."""

    says: str
    verdict: str
    measured: str


@dataclass(frozen=True)
class PrintedTable:
    """A table with the note's numbers and the measured ones; `seeds` are the seeds of the runs it shows."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    seeds: tuple[int, ...] = ()
    plots: tuple[Plot, ...] = ()
    name: str = ""  # short, for a sheet or a file


@dataclass(frozen=True)
class ListedSentence:
    """A sentence of the note that asserts something, and the claims that test it, or why no claim does."""

    words: str  # the note's own
    where: str
    claims: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class StudyRunRecord:
    """One run of one of its sweeps."""

    sweep: str
    run: str
    fingerprint: str | None
    accuracy: float


@dataclass(frozen=True)
class StudyRecord:
    """The content of `study.json`: settings, claims with their verdicts, tables and runs."""

    study: int
    title: str
    note: str
    about: str
    scale: str
    scale_about: str
    command: str
    settings: tuple[str, ...]
    seeds: tuple[int, ...]
    sweeps: tuple[str, ...]
    verdicts: tuple[DecidedClaim, ...]
    tables: tuple[PrintedTable, ...]
    runs: tuple[StudyRunRecord, ...]
    missing: tuple[str, ...] = ()  # runs that did not finish
    ran: str = ""  # what the runs share, in words
    tested: str = ""  # how many test images its accuracies are measured on, and what guessing would reach
    methods: tuple[str, ...] = ()
    highlights: tuple[Observation, ...] = ()
    sentences: tuple[ListedSentence, ...] = ()  # of the note, in its order
    courses: tuple[PrintedTable, ...] = ()  # every round of every client, one table per run


def write_study(folder: Path, record: StudyRecord) -> None:
    write_record(folder / STUDY, record)


def read_study(folder: Path) -> StudyRecord:
    return check_seal(StudyRecord, read_json(folder / STUDY, AGAIN), folder / STUDY, AGAIN)
