"""Run a study: run its sweeps, decide its claims, write both into its folder."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import get_args

from mooring.config import check_plan
from mooring.errors import ConfigError
from mooring.events import Emit
from mooring.notes._evidence import Evidence, study_runs
from mooring.notes._page import page
from mooring.notes._plan import Claim, Scale, ScaleName, Study
from mooring.notes._study_record import STUDY, DecidedClaim, StudyRecord, StudyRunRecord, read_study, write_study
from mooring.notes._study_summary import images_of, observed, ran
from mooring.record import RunRecord, write_atomically
from mooring.sweeps import Plan, run_plan

Watch = Callable[[Plan, Path], AbstractContextManager[Emit]]  # who follows a sweep


def run_study(
    study: Study,
    scale: ScaleName,
    settings: Sequence[str],
    out: Path,
    watch: Watch,
    workers: int | None = None,
    command: str | None = None,
) -> StudyRecord:
    """Run what is not finished, write `study.json` and `study.md`, and return the content of `study.json`.

    `study.md` also shows the other scales of the study, if their folders have the same parent.
    """
    chosen: Scale = getattr(study.scales, scale)
    reject_varied_keys(study, settings)
    planned = dict(plans(study, chosen, settings))
    for plan in planned.values():
        check_plan(plan)
    require_data(next(iter(planned.values())))
    missing: list[str] = []
    runs: dict[str, tuple[RunRecord, ...]] = {part.name: () for part in study.sweeps}
    for name, plan in planned.items():
        with watch(plan, out / name) as emit:
            members = run_plan(plan, out / name, workers, emit, command).members
        runs[name] = study_runs(members)
        missing += [f"{name}/{member.name}" for member in members if not member.finished]
    record = replace(findings(study, scale, settings, Evidence(runs, chosen.left_out)), missing=tuple(missing))
    write_study(out, record)
    write_atomically(out / "study.md", page(record, records_beside(record, out)).encode())
    return record


def records_beside(record: StudyRecord, out: Path) -> tuple[StudyRecord, ...]:
    """All scales of this study with a folder of the usual name in the same place, small to large."""
    folders = {scale: out.parent / f"{record.study}-{scale}" for scale in get_args(ScaleName)}
    found = {scale: read_study(folder) for scale, folder in folders.items() if (folder / STUDY).exists()}
    return tuple({**found, record.scale: record}[scale] for scale in folders if scale in {*found, record.scale})


def reject_varied_keys(study: Study, settings: Sequence[str]) -> None:
    """Reject settings that a sweep of the study sets itself, because they would change what its claims compare."""
    own = {"seed": "its seeds"}
    for part in study.sweeps:
        for key in (*part.factors, *(word.partition("=")[0] for word in part.settings)):
            own.setdefault(key, f"its sweep {part.name!r}")
    found = [(word, own[word.partition("=")[0]]) for word in settings if word.partition("=")[0] in own]
    if found:
        raise ConfigError(
            [
                f"{word}: study {study.number} sets this by {who}; "
                + ("write seeds=1,2" if word.startswith("seed=") else "leave it out, or use `mooring sweep`")
                for word, who in found
            ]
        )


def require_data(plan: Plan) -> None:
    """Report missing data once, before anything runs."""
    plan.experiment_at(plan.points()[0]).data.train()


def plans(study: Study, scale: Scale, settings: Sequence[str]) -> Iterator[tuple[str, Plan]]:
    """The sweeps at this scale, by name; the user's settings override the others."""
    for part in study.sweeps:
        if part.name in scale.left_out:
            continue
        words = (*scale.settings, *part.settings, *scale.sweeps.get(part.name, ()), *settings)
        yield part.name, Plan(words, {**part.factors, "seed": scale.seeds})


def findings(study: Study, scale: ScaleName, settings: Sequence[str], evidence: Evidence) -> StudyRecord:
    """The record of a study: every claim with its verdict, every table, every run."""
    chosen: Scale = getattr(study.scales, scale)
    seeds = ",".join(map(str, chosen.seeds))
    verdicts = tuple(decide_claim(claim, evidence) for claim in study.claims)
    planned = [plan.experiment_at(point) for _, plan in plans(study, chosen, settings) for point in plan.points()]
    return StudyRecord(
        study=study.number,
        title=study.title,
        note=study.note,
        about=study.about,
        scale=scale,
        scale_about=chosen.about,
        command=shlex.join(["mooring", "study", str(study.number), f"scale={scale}", f"seeds={seeds}", *settings]),
        settings=(*chosen.settings, *settings),
        seeds=chosen.seeds,
        sweeps=tuple(part.name for part in study.sweeps if part.name not in chosen.left_out),
        verdicts=verdicts,
        tables=tuple(table(evidence) for table in study.tables),
        courses=tuple(table for course in study.courses for table in course.tables(evidence)),
        runs=tuple(
            StudyRunRecord(name, run.name, run.result.fingerprint if run.result else None, run.accuracy or 0.0)
            for name, runs in evidence.sweeps.items()
            for run in runs
        ),
        ran=ran(planned),
        tested=images_of(run.result for runs in evidence.sweeps.values() for run in runs),
        methods=tuple(dict.fromkeys(experiment.name for experiment in planned)),
        highlights=observed(study.highlights, verdicts, evidence),
        sentences=study.sentences,
    )


def decide_claim(claim: Claim, evidence: Evidence) -> DecidedClaim:
    said = {name: getattr(claim, name) for name in ("id", "claim", "phrase", "where", "documented", "remark")}
    return DecidedClaim(**said, **vars(claim.check(evidence)))
