"""The runs of a sweep: their factors, folders and results."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from mooring.config import HOUSE_CODE, Experiment, Plan, Point, Trust, load_plan
from mooring.errors import StoreError
from mooring.record import (
    FINISHED,
    SWEEP_FILE,
    Result,
    RunFolder,
    RunRecord,
    SweepMember,
    SweepRecord,
    fused_result,
    read_fusion,
    read_sweep,
    run_record,
)
from mooring.schema import strict_json
from mooring.sweeps._search import read_seeds, read_trials
from mooring.wording import setting

PLAN_FILE = "sweep.yaml"
NOT_FINISHED, SOME_FAILED = "not finished", "some clients failed"
PLAIN = ("method", "fusion")  # keys whose values need no key in a name


@dataclass(frozen=True)
class Member:
    """One point of a sweep. Where only the fusion differs, several members share the run of the first."""

    name: str
    factors: Point
    folder: Path  # the folder of its training
    experiment: Experiment
    trainer: "Member | None" = None  # the member whose uploads it is fused from; None: it trains itself

    @property
    def trains(self) -> bool:
        return self.trainer is None

    @property
    def fused_file(self) -> Path:
        return self.folder.parents[1] / "fused" / f"{self.name}.json"

    @property
    def trained(self) -> Result | None:
        """The result of its training; None until it has ended."""
        if self.trainer is not None:
            return self.trainer.trained
        folder = RunFolder(self.folder)
        if not folder.ended:
            return None
        return folder.own_result if folder.own_result.fingerprint == self.experiment.fingerprint() else None

    @property
    def result(self) -> Result | None:
        """The result of the run, or of fusing all clients of its training; None until it exists."""
        trained = self.trained
        if trained is None:
            return None
        return trained if self.trainer is None else fused_from(trained, self.fused_file)

    def record(self, failure: str = "") -> RunRecord:
        """The record of this member, from results only; `failure` is the reason of the last failure."""
        result = self.result
        ended = NOT_FINISHED if result is None else FINISHED if result.complete else SOME_FAILED
        return replace(run_record(self.name, (), result), factors=self.factors, status=failure or ended)

    @property
    def finished(self) -> bool:
        """True if all clients have finished; the next call continues a training in which some failed."""
        result = self.result
        return result is not None and bool(result.complete)


def fused_from(trained: Result, file: Path) -> Result | None:
    """The result in this file, if the training is complete and all clients that delivered were fused."""
    if not trained.complete or not file.exists():
        return None
    row = read_fusion(file)
    delivered = tuple(sorted(trained.delivered(trained.last.round)))
    same = (row.clients, row.fingerprint) == (delivered, trained.fingerprint)
    return fused_result(trained, row) if same else None


def members(out: Path, trust: Trust = HOUSE_CODE) -> list[Member]:
    """The members of the sweep in this folder, in the order of its plan."""
    if not (out / PLAN_FILE).exists():
        raise StoreError(f"{out}: holds no {PLAN_FILE}", "name the folder of a sweep")
    return planned_members(load_plan(out / PLAN_FILE, trust=trust), out)


def planned_members(plan: Plan, out: Path) -> list[Member]:
    """The members of a plan; those of a search as far as its trials are known."""
    trials = read_trials(out, plan.search)
    return list(members_of(replace(plan, trials=trials, seeds_of_trials=read_seeds(out, trials)), out))


def sweep_record(every: Iterable[Member], runs: Iterable[RunRecord], baseline: str | None) -> SweepRecord:
    rows = (SweepMember(m.name, m.factors, run.status, m.folder.name) for m, run in zip(every, runs, strict=True))
    return SweepRecord(tuple(rows), baseline)


def recorded_sweep(out: Path, trust: Trust = HOUSE_CODE) -> SweepRecord:
    """The content of `sweep.json`; folders of earlier versions have none, so the plan is used."""
    if (out / SWEEP_FILE).exists():
        return read_sweep(out)
    every = members(out, trust)
    return sweep_record(every, [member.record() for member in every], load_plan(out / PLAN_FILE, trust=trust).baseline)


def members_of(plan: Plan, out: Path) -> Iterator[Member]:
    trainers: dict[str, Member] = {}
    names: set[str] = set()
    for point in plan.points():
        name = unique(member_name(point), names)
        experiment = plan.experiment_at(point)
        training = training_of(experiment)
        trainer = trainers.get(training)
        folder = trainer.folder if trainer else out / "runs" / name
        member = Member(name, point, folder, replace(experiment, out=str(folder)), trainer)
        trainers.setdefault(training, member)
        yield member


def training_of(experiment: Experiment) -> str:
    """A hash of all settings that influence training; members with the same hash differ only in the fusion."""
    tree = experiment.tree()
    fusion = experiment.method.fusion
    asks = sorted(fusion.asks) if fusion else None  # images held back for the server are missing in training
    trained = {key: value for key, value in tree.items() if key not in ("engine", "out")}
    trained["method"] = {key: value for key, value in tree["method"].items() if key not in ("fusion", "name")}
    return sha256(strict_json([trained, asks, fusion is None]).encode()).hexdigest()


def member_name(point: Point) -> str:
    """`v4-alpha0.05-clip_per-group-seed1`: values, after the last word of the key if needed."""
    words = [setting(value) if key in PLAIN else factor_name(key.split(".")[-1], value) for key, value in point.items()]
    return re.sub(r"[^\w.+-]+", "_", "-".join(words)) or "run"


def factor_name(word: str, value: Any) -> str:
    """`alpha0.05`, `clip_per-group`: a number follows its key directly."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{word}{'' if number else '_'}{setting(value)}"


def unique(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "+"
    taken.add(name)
    return name
