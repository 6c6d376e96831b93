"""Labels of experiments: the settings in which they differ, without those that all share."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from mooring.record import RunResult
from mooring.reports._report_data import ReportedRun, identity, run_digest, varying
from mooring.wording import setting


def label_runs(runs: list[ReportedRun]) -> tuple[ReportedRun, ...]:
    """The runs with labels: the method, and the factors that vary; the sweep only where several have such a label."""
    apart, shared = varying(runs) - {"method"}, shared_changes(runs)
    named = [replace(run, label=_label(run, apart, shared[run.sweep])) for run in runs]
    sweeps: dict[str, set[str]] = {}
    for run in named:
        sweeps.setdefault(run.label, set()).add(run.sweep)
    return tuple(_with_distinct_titles([with_sweep(run) if len(sweeps[run.label]) > 1 else run for run in named]))


def with_sweep(run: ReportedRun) -> ReportedRun:
    """The sweep before the label, unless that says the same."""
    return run if run.label == run.sweep else replace(run, label=f"{run.sweep} · {run.label}")


def shared_changes(runs: Sequence[ReportedRun]) -> dict[str, dict[str, str]]:
    """sweep -> the changes that all its methods have; the label of the only method on a page says its changes"""
    found: dict[str, dict[str, str]] = {}
    sweeps = dict.fromkeys(run.sweep for run in runs)
    for sweep in sweeps:
        same = [run.experiment for run in runs if run.sweep == sweep]
        methods = {experiment.name if experiment else "" for experiment in same}
        changes = [dict(experiment.changes) if experiment else {} for experiment in same]
        alike = {key: value for key, value in changes[0].items() if all(one.get(key) == value for one in changes)}
        found[sweep] = alike if len(methods) > 1 or len(sweeps) > 1 else {}
    return found


def _label(run: ReportedRun, factors: Collection[str], shared: Collection[str]) -> str:
    words = [method_of(run, {*factors, *shared})]
    words += [factor_text(key, run.record.factors[key]) for key in run.factors if key in factors]
    return " · ".join(words)


def factor_text(key: str, value: Any) -> str:
    """`alpha=0.05`; the value alone if it is the name of a fusion."""
    return setting(value) if key == "fusion" else f"{key.rpartition('.')[2]}={setting(value)}"


def method_labels(runs: list[ReportedRun]) -> list[str]:
    """Every method once, without varying factors and changes that a sweep shares."""
    apart, shared = varying(runs) - {"method"}, shared_changes(runs)
    return list(dict.fromkeys(method_of(run, {*apart, *shared[run.sweep]}) for run in runs))


def method_of(run: ReportedRun, keys: Collection[str]) -> str:
    """The label of a method without the changes to these keys."""
    return str(run.experiment.called.beside(keys)) if run.experiment else imported_label(run.result)


def imported_label(result: RunResult) -> str:
    """The method of a log, with a mark where it was inferred."""
    known = result.origin.identified if result.origin else "unknown"
    return f"{result.method} (inferred)" if known == "inferred" else result.method


def _with_distinct_titles(runs: list[ReportedRun]) -> list[ReportedRun]:
    """Labels of different experiments differ: if needed, the first fingerprint is added."""
    identities: dict[str, dict[str, str]] = {}
    for run in runs:
        identities.setdefault(run.label, {}).setdefault(identity(run), run_digest(run)[:8])
    return [
        replace(run, label=f"{run.label} ({identities[run.label][identity(run)]})")
        if len(identities[run.label]) > 1
        else run
        for run in runs
    ]
