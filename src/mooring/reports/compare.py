"""Runs that were made separately, side by side: what differs between their settings becomes a factor."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote

from mooring.config import Trust
from mooring.reports.labels import label_runs
from mooring.reports.reading import collect_report_data
from mooring.reports.report_data import NO_EXTENSION, SEEDS, Extension, ReportData, Run, run_digest
from mooring.reports.sections.setup import flattened, shown_tree
from mooring.reports.table import cell_text

METHOD = "method"
FACTORS = ("data", "partition", "model", "training")  # a method has its label; the rest changes no result


def gather_several(folders: Sequence[Path], trust: Trust, extension: Extension = NO_EXTENSION) -> ReportData:
    """All runs in these folders, each once; the second of two equal ones is named and not counted."""
    books = [collect_report_data(folder, trust, extension) for folder in folders]
    kept: dict[tuple[str, int, str], Run] = {}
    left = [row for data in books for row in data.unfinished]
    for data, folder in zip(books, folders, strict=True):
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


def with_factors(runs: list[Run]) -> list[Run]:
    """The method by its label, and every other setting that is not the same in all of them."""
    settings = [{key: cell_text(value) for key, value in flattened(shown_tree(run)) if is_factor(key)} for run in runs]
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


def trains(run: Run) -> bool:
    """Or are the settings of training nothing to it?"""
    return run.experiment is None or bool(run.experiment.method.client.terms)


def is_factor(key: str) -> bool:
    return key not in SEEDS and key.partition(".")[0] in FACTORS
