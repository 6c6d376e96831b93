"""What a study found: the types behind `study.json`."""

from dataclasses import dataclass
from pathlib import Path

from mooring.record.files import read_json, unsealed, write_record

STUDY = "study.json"
AGAIN = "run the study again"


@dataclass(frozen=True)
class DecidedClaim:
    """What a study found out about a sentence of its note."""

    id: str
    claim: str
    verdict: str
    phrase: str = ""  # in the note's own words
    where: str = ""
    documented: str = ""
    measured: str = ""
    reason: str = ""
    remark: str = ""  # what the author of the study has to say of it

    @property
    def why(self) -> str:
        return ". ".join(part for part in (self.reason, self.remark) if part)


@dataclass(frozen=True)
class Observation:
    """One of the main claims in plain words, its verdict, and the numbers beside it."""

    says: str
    verdict: str
    measured: str


@dataclass(frozen=True)
class PrintedTable:
    """A table of the note beside what was measured, as it is shown."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ListedSentence:
    """A sentence of the note that asserts something, and the claims that test it or why none does."""

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
    """What `study.json` says: what was run, every claim with its verdict, every table, every run."""

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
    methods: tuple[str, ...] = ()
    highlights: tuple[Observation, ...] = ()
    sentences: tuple[ListedSentence, ...] = ()  # of the note, in its order


def write_study(folder: Path, record: StudyRecord) -> None:
    write_record(folder / STUDY, record)


def read_study(folder: Path) -> StudyRecord:
    return unsealed(StudyRecord, read_json(folder / STUDY, AGAIN), folder / STUDY, AGAIN)
