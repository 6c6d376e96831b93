"""Folders on disk -> the data of a report: a run, a sweep, several folders compared, and what an extension reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from mooring.config import HOUSE_CODE, Experiment, Trust, load_recorded, parse, read_file
from mooring.doctor import case_of, examine
from mooring.errors import StoreError
from mooring.record import (
    FINISHED,
    SWEEP_FILE,
    FusionRecord,
    Result,
    RunFolder,
    SweepMember,
    fused_result,
    read_fusion,
    with_result,
)
from mooring.reports._labels import label_runs
from mooring.reports._report_data import NO_EXTENSION, SEEDS, Extension, ReportData, ReportedRun, run_digest
from mooring.reports._sections.setup import setting_cells, shown_tree
from mooring.reports._table import cell_text
from mooring.sweeps import recorded_sweep


def run_data(folder: Path, trust: Trust) -> ReportData:
    if not RunFolder(folder).ended:
        raise StoreError(f"{folder}: this run is not finished", f"go on with: mooring resume {quote(str(folder))}")
    runs = label_runs([read_run(folder, {}, "", trust)])
    title = f"{runs[0].label} on {runs[0].dataset}"
    return ReportData("run", title, runs, subtitle=f"seed {runs[0].seed_text}", folder=str(folder))


def read_run(path: Path, factors: Mapping[str, object], sweep: str, trust: Trust) -> ReportedRun:
    """Everything a report says about one run; the method and data of an imported one may be unknown here."""
    folder = RunFolder(path)
    case = case_of(folder, trust)
    imported = folder.result.origin is not None
    return ReportedRun(
        replace(folder.record, factors=factors),
        None if imported else load_recorded(folder.experiment_file, trust),
        case,
        examine(case),
        folder.environment,
        folder.fusions,
        sweep,
        settings=read_file(folder.experiment_file) if imported else {},
        judgement=folder.judgement,
    )


def read_fused(path: Path, member: SweepMember, trainer: ReportedRun, trust: Trust) -> ReportedRun | None:
    """The training run with the metrics of this fusion; None if the fusion belongs to another training."""
    row, trained = read_fusion(path), trainer.result
    if trainer.experiment is None or not isinstance(trained, Result) or row.fingerprint != trained.fingerprint:
        return None
    record = with_result(trainer.record, fused_result(trained, row))
    return replace(
        trainer,
        record=replace(record, name=member.name, factors=member.factors),
        experiment=fused_experiment(trainer.experiment, row, member.factors, trust),
        fusions=(),
        shared_with=trainer.name,
    )


def fused_experiment(trained: Experiment, row: FusionRecord, factors: Mapping[str, object], trust: Trust) -> Experiment:
    """The training experiment with the name and fusion of this member."""
    tree = trained.tree()
    method = tree["method"] | {"name": factors.get("method", trained.name)}
    experiments = parse(tree | {"method": method | {"fusion": row.settings or method["fusion"]}}, trust)
    if len(experiments) > 1:
        raise StoreError(f"{SWEEP_FILE}: method={method['name']} are several", "run the sweep again")
    return experiments[0]


@dataclass(frozen=True)
class SweepRuns:
    """The finished and unfinished members of a sweep, in the order of its plan."""

    members: list[ReportedRun]
    unfinished: list[tuple[str, str]]
    baseline: str | None


def sweep_data(folder: Path, trust: Trust) -> ReportData:
    sweep = read_sweep(folder, "", trust)
    if not sweep.members:
        raise StoreError(f"{folder}: no run of this sweep has finished", "go on with the sweep, then report")
    title = folder.resolve().name
    baselines = {"": sweep.baseline} if sweep.baseline else {}
    return ReportData("sweep", title, label_runs(sweep.members), tuple(sweep.unfinished), baselines, folder=str(folder))


def read_sweep(folder: Path, name: str, trust: Trust) -> SweepRuns:
    """Every finished member with its factors; `name` distinguishes the sweeps of a study."""
    record = recorded_sweep(folder, trust)
    trained: dict[str, ReportedRun] = {}
    members: list[ReportedRun] = []
    unfinished: list[tuple[str, str]] = []
    for member in record.members:
        found = read_member(folder, member, trained, name, trust)
        if isinstance(found, ReportedRun):
            members.append(found)
        else:
            unfinished.append((member.name, found))
    return SweepRuns(members, unfinished, record.baseline)


def read_member(
    folder: Path, member: SweepMember, trained: dict[str, ReportedRun], sweep: str, trust: Trust
) -> ReportedRun | str:
    """A member that has a result, or why it has none; `trained` collects the trainings that others are fused from."""
    reason = "not finished" if member.status == FINISHED else member.status
    if member.trains:
        path = folder / "runs" / member.run
        if not RunFolder(path).ended:
            return reason if path.exists() or member.status != FINISHED else "its folder is missing"
        trained[member.run] = read_run(path, member.factors, sweep, trust)
        return trained[member.run]
    file = folder / "fused" / f"{member.name}.json"
    if member.status != FINISHED or not file.exists():
        return reason
    trainer = trained.get(member.run)
    fused = None if trainer is None else read_fused(file, member, trainer, trust)
    return fused or "the run that trained it is missing"


READERS = {"sweep.yaml": sweep_data, "result.json": run_data, "experiment.yaml": run_data}


def collect_report_data(folder: Path, trust: Trust = HOUSE_CODE, extension: Extension = NO_EXTENSION) -> ReportData:
    """Read a folder; its kind is recognised by a file that only this kind has."""
    readers = {**extension.readers, **READERS}
    for name, read in readers.items():
        if (folder / name).is_file():
            return read(folder, trust)
    raise StoreError(f"{folder}: holds nothing to report on", f"name a folder with one of {', '.join(readers)}")


METHOD = "method"
FACTORS = ("data", "partition", "model", "training")  # a method has its label; the rest changes no result


def collect_several(folders: Sequence[Path], trust: Trust, extension: Extension = NO_EXTENSION) -> ReportData:
    """All runs in these folders, each once; the second of two equal ones is named and not counted."""
    found = [collect_report_data(folder, trust, extension) for folder in folders]
    kept: dict[tuple[str, int, str], ReportedRun] = {}
    left = [row for data in found for row in data.unfinished]
    for data, folder in zip(found, folders, strict=True):
        for run in data.members:
            key = (run_digest(run), run.seed, str(run.experiment and run.experiment.label))
            if key in kept:
                left.append((f"{folder}: {run.name}", f"the same run as {kept[key].name}"))
            else:
                kept[key] = replace(run, sweep="")
    names = [folder.resolve().name for folder in folders]
    return ReportData(
        "comparison",
        f"{' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} side by side",
        label_runs(with_factors(list(kept.values()))),
        tuple(left),
        command=" ".join(["mooring compare", *(quote(str(folder)) for folder in folders)]),
    )


def with_factors(runs: list[ReportedRun]) -> list[ReportedRun]:
    """The method by its label, and every other setting that is not the same in all of them."""
    settings = [
        {key: cell_text(value) for key, value in setting_cells(shown_tree(run)) if is_factor(key)} for run in runs
    ]
    keys = dict.fromkeys(key for setting in settings for key in setting)
    apart = [key for key in keys if len({setting.get(key) for setting in settings}) > 1]
    return [
        replace(
            run,
            record=replace(
                run.record,
                factors={METHOD: run.result.method}
                | {key: setting.get(key, "none") for key in apart if trains(run) or not key.startswith("training.")},
            ),
        )
        for run, setting in zip(runs, settings, strict=True)
    ]


def trains(run: ReportedRun) -> bool:
    """False if the method trains nothing, so training settings do not matter."""
    return run.experiment is None or bool(run.experiment.method.client.terms)


def is_factor(key: str) -> bool:
    return key not in SEEDS and key.partition(".")[0] in FACTORS
