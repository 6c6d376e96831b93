"""A study as its YAML file defines it: scales, sweeps, tables, and claims with the rules that decide them."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import MinLen

from mooring.config import load_value
from mooring.errors import ConfigError, nearest
from mooring.notes._claims import Check, Correlation, Given, Within
from mooring.notes._evidence import parse_group
from mooring.notes._group_claims import Alike, Below, NoBetter, Order, Trend, Varies
from mooring.notes._measures import Client, Extreme, FromPeak, Fused, Log10, Measure, Quotient, Share, Since, Switch
from mooring.notes._study_record import ListedSentence
from mooring.notes._study_summary import Highlight
from mooring.notes._tables import ByClient, ByGroup, ByRound, EveryRound, NoteTable

ScaleName = Literal["quick", "cpu", "full"]
SettingValue = str | int | float

CHECKS: dict[str, type[Check]] = {
    "alike": Alike,
    "below": Below,
    "correlation": Correlation,
    "given": Given,
    "no-better": NoBetter,
    "order": Order,
    "trend": Trend,
    "varies": Varies,
    "within": Within,
}
MEASURES: dict[str, type[Measure]] = {
    "client": Client,
    "extreme": Extreme,
    "from-peak": FromPeak,
    "fused": Fused,
    "log10": Log10,
    "quotient": Quotient,
    "share": Share,
    "since": Since,
    "switch": Switch,
}
TABLES: dict[str, type[NoteTable]] = {"by-client": ByClient, "by-group": ByGroup, "by-round": ByRound}


@dataclass(frozen=True)
class Scale:
    """A size of the study: `key=value` settings of every run and of single sweeps, the seeds, and the sweeps
    that are left out because they would take too long."""

    about: str
    settings: tuple[str, ...]
    seeds: Annotated[tuple[int, ...], MinLen(1)]
    sweeps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True)
class Scales:
    """`quick` takes minutes on two cores, `cpu` hours, `full` is the note's own setting."""

    quick: Scale
    cpu: Scale
    full: Scale


@dataclass(frozen=True)
class PlannedSweep:
    """Runs of every combination of factors and seeds; a factor `fusion` shares its training."""

    name: str
    factors: dict[str, tuple[SettingValue, ...]]
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Claim:
    """A claim of the note, the evidence that the note gives for it, and the rule that decides it."""

    id: str
    claim: str
    where: str
    documented: str
    check: Check
    phrase: str = ""  # the note's own words
    remark: str = ""  # what theory says of it


@dataclass(frozen=True)
class Study:
    """One note."""

    number: int
    title: str
    note: str
    about: str
    scales: Scales
    sweeps: tuple[PlannedSweep, ...]
    highlights: tuple[Highlight, ...]  # what its ending says
    tables: tuple[NoteTable, ...]
    claims: tuple[Claim, ...]
    sentences: tuple[ListedSentence, ...]  # all that assert something, in the note's order
    courses: tuple[EveryRound, ...] = ()  # too long for a page, and what its tables were drawn from
    on_real_images: str = ""  # what the runs on real images show of the same, printed after scale `quick`


def load_study(file: Path) -> Study:
    """The study in a file; a group that no sweep runs is an error, reported with all others."""
    study = load_value(Study, file, {Check: CHECKS, Measure: MEASURES, NoteTable: TABLES})
    found = [f"{file.name}: {problem}" for problem in problems(study)]
    if found:
        raise ConfigError(found)
    return study


def with_seeds(study: Study, scale: ScaleName, seeds: tuple[int, ...]) -> Study:
    """The study with other seeds at this scale."""
    chosen: Scale = replace(getattr(study.scales, scale), seeds=seeds)
    return replace(study, scales=replace(study.scales, **{scale: chosen}))


def problems(study: Study) -> Iterator[str]:
    """Claims, tables and highlights that refer to missing runs or claims; duplicate names."""
    sweeps = {sweep.name: sweep for sweep in study.sweeps}
    asking = {f"claim {claim.id}": claim.check.groups() for claim in study.claims}
    asking |= {f"table {table.title!r}": table.groups() for table in study.tables}
    asking |= {f"course {course.title!r}": (course.of,) for course in study.courses}
    asking |= {f"highlight {h.says!r}": tuple(number.of for number in h.numbers) for h in study.highlights}
    for who, groups in asking.items():
        for group in groups:
            name, wanted = parse_group(group)
            factors = sweeps[name].factors if name in sweeps else {}
            if name not in sweeps or any(value not in map(str, factors.get(key, ())) for key, value in wanted.items()):
                yield f"{who}: needs {group!r}, but no sweep runs it"
    ids = [claim.id for claim in study.claims]
    unknown = {h.claim for h in study.highlights} - set(ids)
    yield from (f"highlight: there is no claim {id_!r}; {nearest(id_, ids)}" for id_ in sorted(unknown))
    yield from (f"claim {id_}: is defined twice" for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1}))
    for sentence in study.sentences:
        yield from (
            f"sentence {sentence.words!r}: there is no claim {id_!r}; {nearest(id_, ids)}"
            for id_ in sentence.claims
            if id_ not in ids
        )
        if bool(sentence.claims) == bool(sentence.reason):
            yield f"sentence {sentence.words!r}: needs its claims, or the reason why it has none, and not both"
    listed = {id_ for sentence in study.sentences for id_ in sentence.claims}
    yield from (
        f"claim {claim.id}: quotes the note, and no sentence names it"
        for claim in study.claims
        if claim.phrase and claim.id not in listed
    )
    for scale in (study.scales.quick, study.scales.cpu, study.scales.full):
        missing = {*scale.sweeps, *scale.left_out} - sweeps.keys()
        yield from (f"scale: there is no sweep {name!r}" for name in sorted(missing))


HERE = Path(__file__).parent


def study_files() -> dict[str, Path]:
    """The files by number."""
    for folder in (HERE / "plans", HERE.parents[2] / "studies"):
        found = {file.name.partition("-")[0]: file for file in sorted(folder.glob("[0-9]*-*.yaml"))}
        if found:
            return found
    return {}


def study_file(number: str) -> Path:
    found = study_files()
    if number not in found:
        valid = ", ".join(found) or "none is installed"
        raise ConfigError([f"study {number}: unknown; valid: {valid}"])
    return found[number]
