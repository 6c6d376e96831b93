"""What experiments are called on a page: by what sets them apart, and by nothing that all of them share."""

from collections.abc import Collection
from dataclasses import replace

from mooring.record import RunResult
from mooring.reports._report_data import Run, identity, run_digest, varying
from mooring.wording import setting


def label_runs(runs: list[Run]) -> tuple[Run, ...]:
    """Runs that know what sets their group apart: the method, and the factors that vary."""
    apart, sweeps = varying(runs) - {"method"}, dict.fromkeys(run.sweep for run in runs)
    shared = {sweep: throughout([run for run in runs if run.sweep == sweep]) for sweep in sweeps}
    named = [replace(run, label=_label(run, apart, shared[run.sweep], len(sweeps) > 1)) for run in runs]
    return tuple(_with_distinct_titles(named))


def throughout(runs: list[Run]) -> dict[str, str]:
    """What was changed of all methods of a sweep alike; where there is one method alone, its label says it."""
    if len({run.experiment.name if run.experiment else "" for run in runs}) < 2:
        return {}
    changes = [run.experiment.changes if run.experiment else {} for run in runs]
    return {key: value for key, value in changes[0].items() if all(other.get(key) == value for other in changes)}


def _label(run: Run, factors: Collection[str], shared: Collection[str], many_sweeps: bool) -> str:
    name = method_of(run, {*factors, *shared})
    of_many = many_sweeps and not (run.experiment and run.experiment.name == run.sweep)  # v7 · v7 says it twice
    words = [run.sweep, name] if of_many else [name]
    words += [f"{key.rpartition('.')[2]}={setting(run.record.factors[key])}" for key in run.factors if key in factors]
    return " · ".join(words)


def method_labels(runs: list[Run]) -> list[str]:
    """Every method once, without what sets its experiments apart and what all of a sweep share."""
    apart, sweeps = varying(runs) - {"method"}, dict.fromkeys(run.sweep for run in runs)
    shared = {sweep: throughout([run for run in runs if run.sweep == sweep]) for sweep in sweeps}
    return list(dict.fromkeys(method_of(run, {*apart, *shared[run.sweep]}) for run in runs))


def method_of(run: Run, keys: Collection[str]) -> str:
    """Without the changes that these keys tell already."""
    return str(run.experiment.called.beside(keys)) if run.experiment else imported_label(run.result)


def imported_label(result: RunResult) -> str:
    """The method of a log, with a mark where it was inferred."""
    known = result.origin.identified if result.origin else "unknown"
    return f"{result.method} (inferred)" if known == "inferred" else result.method


def _with_distinct_titles(runs: list[Run]) -> list[Run]:
    """Different experiments never share a label: where they would, the first fingerprint of each is added."""
    identities: dict[str, dict[str, str]] = {}
    for run in runs:
        identities.setdefault(run.label, {}).setdefault(identity(run), run_digest(run)[:8])
    return [
        replace(run, label=f"{run.label} ({identities[run.label][identity(run)]})")
        if len(identities[run.label]) > 1
        else run
        for run in runs
    ]
