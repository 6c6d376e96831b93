"""The data of a report: runs, grouped by experiment (runs that differ only in their seed)."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean

from mooring.config import Experiment, Trust
from mooring.doctor import Case, Diagnosis
from mooring.methods import TRACKS, Track
from mooring.record import (
    ClientHistory,
    Environment,
    FusionRecord,
    RunJudgement,
    RunRecord,
    RunResult,
    positive_label,
)
from mooring.reports._accuracies import accuracy_interval
from mooring.reports._figure import PALETTE, Figure, Style, style
from mooring.reports._section import Card, Section, SummaryAnswer, VerdictLine
from mooring.reports._table import Interval
from mooring.reports._verdict import RunVerdict, verdict_on
from mooring.schema import Tree

SEEDS = ("seed", "partition.seed")
ACROSS = "across tracks"
MOST_SHOWN = 12  # runs whose clients are drawn one by one
MOST_CLIENTS = 20  # clients that can be distinguished in one figure


@dataclass(frozen=True)
class ReportedRun:
    """One finished run of a report: its record, what it was made of, and what the doctor says about it."""

    record: RunRecord
    experiment: Experiment | None  # None: imported, and known by its settings alone
    case: Case
    diagnosis: Diagnosis
    environment: Environment | None
    fusions: tuple[FusionRecord, ...]
    sweep: str = ""
    label: str = ""  # of its group
    shared_with: str = ""  # the run of the sweep whose training it reuses
    settings: Tree = field(default_factory=dict)  # of an imported run; null: its log does not say
    judgement: RunJudgement | None = None  # of a run on a folder

    @property
    def name(self) -> str:
        return self.record.name

    @property
    def result(self) -> RunResult:
        assert self.record.result is not None  # a run that is not finished is not reported on
        return self.record.result

    @property
    def trained(self) -> bool:
        return not self.shared_with

    @property
    def track(self) -> Track:
        """Results are comparable within a track; the published code, whose logs are imported, always trains."""
        return self.experiment.method.track if self.experiment else "trained from scratch"

    @property
    def verdict(self) -> RunVerdict:
        return verdict_on(self.result, self.experiment is None or self.experiment.method.fusion is not None)

    @property
    def factors(self) -> dict[str, str]:
        """Its factors in the sweep, as text."""
        return {key: str(value) for key, value in self.record.factors.items()}

    @property
    def seed(self) -> int:
        """0 if a log does not contain it."""
        return self.experiment.seed if self.experiment else self.result.seeds.training or 0

    @property
    def seed_text(self) -> str:
        return "unknown" if self.result.origin and self.result.seeds.training is None else str(self.seed)

    @property
    def tree(self) -> Tree:
        """Its settings: all of them, or those that a log tells."""
        return self.experiment.tree() if self.experiment else self.settings

    @property
    def dataset(self) -> str:
        return self.result.dataset or "unknown data"

    @property
    def clients(self) -> tuple[ClientHistory, ...]:
        return self.case.record.clients

    @property
    def seconds(self) -> dict[int, float]:
        """client -> of its whole training; nothing where a log does not say"""
        return {client.client: client.seconds for client in self.clients if client.seconds}

    @property
    def alone(self) -> float | None:
        """Mean accuracy of the clients' own models at the end."""
        return self.result.last.accuracy_alone

    @property
    def title(self) -> str:
        return f"{self.label}, seed {self.seed_text}"


@dataclass(frozen=True)
class SeedGroup:
    """Runs of one experiment under several seeds."""

    label: str
    runs: tuple[ReportedRun, ...]

    @property
    def first(self) -> ReportedRun:
        return self.runs[0]

    @property
    def track(self) -> Track:
        return self.first.track

    @property
    def seeds(self) -> str:
        return ", ".join(run.seed_text for run in self.runs)

    @property
    def results(self) -> tuple[RunResult, ...]:
        return tuple(run.result for run in self.runs)

    @property
    def accuracies(self) -> list[float]:
        return [result.accuracy for result in self.results]

    @property
    def mean_accuracy(self) -> float:
        return fmean(self.accuracies)

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of its accuracy."""
        return accuracy_interval(self.accuracies, self.first.result.test_images)


@dataclass(frozen=True)
class Additions:
    """What the reader of a folder adds to the report on its runs."""

    cards: tuple[Card, ...] = ()
    verdicts: tuple[VerdictLine, ...] = ()
    sections: tuple[Section, ...] = ()
    story: tuple[str, ...] = ()  # a few sentences at the top
    figures: tuple[Figure, ...] = ()  # that the page opens with
    next_step: SummaryAnswer | None = None


@dataclass(frozen=True)
class ReportData:
    """Everything that was found in a folder."""

    kind: str  # run, sweep, comparison, or what an extension reads
    title: str
    members: tuple[ReportedRun, ...]  # of a sweep: its runs, and what was only fused
    unfinished: tuple[tuple[str, str], ...] = ()  # (name, why)
    baselines: dict[str, str] = field(default_factory=dict)  # sweep -> factor=value to compare with
    subtitle: str = ""
    command: str = ""  # that makes it again
    folder: str = ""  # as it was named
    positive: str | None = None  # the positive class, if one is named
    one_problem: bool = True  # False: its sweeps are different problems, so no experiment is the best
    additions: Additions = Additions()
    across_tracks: bool = False  # experiments of different tracks are compared with each other

    @cached_property
    def runs(self) -> tuple[ReportedRun, ...]:
        """What was trained: each has clients, losses and lambdas of its own."""
        return tuple(member for member in self.members if member.trained)

    @cached_property
    def groups(self) -> tuple[SeedGroup, ...]:
        return grouped(self.runs)

    @cached_property
    def lines(self) -> tuple[SeedGroup, ...]:
        """One for each line of results; more than groups if one training was fused several times."""
        return grouped(self.members)

    @property
    def seeds(self) -> tuple[int, ...]:
        return seeds_of(self.members)

    @property
    def shown(self) -> tuple[ReportedRun, ...]:
        """The first seed of every group: whose clients are drawn one by one."""
        return tuple(group.first for group in self.groups[:MOST_SHOWN])

    @property
    def not_shown(self) -> str:
        """A sentence on experiments and seeds whose clients are not drawn; empty if all are drawn."""
        left = [group.label for group in self.groups[MOST_SHOWN:]]
        left_out = f" Left out, for want of room: {'; '.join(left)}." if left else ""
        seeds = any(len(group.runs) > 1 for group in self.groups)
        return f"{' Of every experiment the first seed is drawn.' if seeds else ''}{left_out}"

    @cached_property
    def contests(self) -> dict[str, tuple[SeedGroup, ...]]:
        """What is compared: the experiments of each track, or all of them; best first."""
        if self.across_tracks:
            return {ACROSS: best_first(self.lines)}
        tracks = {track: [line for line in self.lines if line.track == track] for track in TRACKS}
        return {track: best_first(lines) for track, lines in tracks.items() if lines}

    @cached_property
    def looks(self) -> dict[str, tuple[int, Style]]:
        """experiment -> its colour, the same in every figure, and its dash: a method has one colour."""
        methods = dict.fromkeys(method_name(line.first) for line in self.lines)
        colours = {name: i for i, name in enumerate(methods)}
        found: dict[str, tuple[int, Style]] = {}
        for line in self.lines:
            index = colours[method_name(line.first)]
            before = sum(other == index for other, _ in found.values())
            found[line.label] = index, style(before + index // len(PALETTE))
        return found

    def colour(self, label: str) -> int:
        return self.looks[label][0]


@dataclass(frozen=True)
class Extension:
    """What a room above adds to reports: readers of its own folders, and sections."""

    readers: Mapping[str, Callable[[Path, Trust], ReportData]] = field(default_factory=dict)  # by a file in the folder
    sections: tuple[Callable[[ReportData], Section], ...] = ()


NO_EXTENSION = Extension()


def with_positive(data: ReportData, positive: str | None) -> ReportData:
    """Set the positive class; a class that no run has is an error."""
    positive_label(tuple(dict.fromkeys(name for run in data.members for name in run.result.classes)), positive)
    return replace(data, positive=positive)


def seeds_of(runs: Iterable[ReportedRun]) -> tuple[int, ...]:
    return tuple(sorted({run.seed for run in runs}))


def best_first(lines: Iterable[SeedGroup]) -> tuple[SeedGroup, ...]:
    return tuple(sorted(lines, key=lambda line: -line.mean_accuracy))


def method_name(run: ReportedRun) -> str:
    """The method with its changes, without what else sets an experiment apart."""
    return run.experiment.label if run.experiment else run.result.method


def grouped(runs: tuple[ReportedRun, ...]) -> tuple[SeedGroup, ...]:
    labels = dict.fromkeys(run.label for run in runs)
    by_label = {label: [run for run in runs if run.label == label] for label in labels}
    return tuple(SeedGroup(label, tuple(sorted(same, key=lambda r: r.seed))) for label, same in by_label.items())


def varying(runs: list[ReportedRun]) -> set[str]:
    """The factors with more than one value, without seeds."""
    keys = {key for run in runs for key in run.factors if key not in SEEDS}
    return {key for key in keys if len({run.factors.get(key) for run in runs}) > 1}


def run_digest(run: ReportedRun) -> str:
    """Of the experiment, or of the log that an imported run was made of."""
    if run.experiment is not None:
        return run.experiment.fingerprint()
    return run.result.origin.sha256 if run.result.origin else ""


def identity(run: ReportedRun) -> str:
    """The same for runs that differ by their seeds alone."""
    tree = {key: value for key, value in run.tree.items() if key not in ("seed", "engine", "out")}
    return json.dumps(tree | {"partition": tree["partition"] | {"seed": None}}, sort_keys=True)
