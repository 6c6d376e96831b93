"""What is needed to repeat a run: configuration, environment, fingerprints."""

from collections.abc import Iterator
from math import isfinite

from mooring.config import as_yaml
from mooring.reports._report_data import ReportData, ReportedRun
from mooring.reports._section import Section
from mooring.reports._table import Cell, Quoted, Table
from mooring.schema import Tree, record_tree, tree_leaves

ABSENT = "(absent)"
COMPLETE = {True: "yes", False: "no", None: "unknown"}


def setup(data: ReportData) -> Section:
    tables = (*unfinished(data), *settings(data), *environment(data), *runs_tables(data))
    texts = tuple((f"experiment.yaml of {run.title}", as_yaml(run.tree)) for run in data.shown)
    lead = (
        "The fingerprint is a hash of everything that can change a result; `mooring run` takes each experiment.yaml "
        "as it is."
    )
    return Section("setup", "Setup", lead, tables=tables, texts=texts)


def unfinished(data: ReportData) -> tuple[Table, ...]:
    if not data.unfinished:
        return ()
    return (Table("unfinished", "Not finished, and not counted", ("run", "why"), data.unfinished),)


def runs_tables(data: ReportData) -> tuple[Table, ...]:
    rows = tuple(
        (
            run.name,
            run.label,
            run.result.seeds.training,
            run.result.seeds.split,
            run.result.accuracy,
            run.result.fingerprint or "imported",
            (run.result.partition.sha256 or "")[:16] or None,
            (run.result.data_sha256 or "")[:16] or None,
            COMPLETE[run.result.complete],
        )
        for run in data.runs
    )
    columns = ("run", "experiment", "seed", "split seed", "accuracy", "fingerprint", "partition", "data", "complete")
    return (Table("runs", "Runs and fingerprints", columns, rows, folded=True),) if rows else ()


def settings(data: ReportData) -> tuple[Table, ...]:
    """What all experiments share, and what sets them apart."""
    leaves = {group.label: dict(setting_cells(shown_tree(group.first))) for group in data.groups}
    keys = list(dict.fromkeys(key for found in leaves.values() for key in found))
    values = {key: [found.get(key, ABSENT) for found in leaves.values()] for key in keys}
    same = tuple((key, row[0]) for key, row in values.items() if all(value == row[0] for value in row))
    apart = tuple((key, *row) for key, row in values.items() if any(value != row[0] for value in row))
    tables = []
    if apart:
        tables.append(Table("settings-apart", "Settings that differ", ("key", *leaves), apart))
    if same:
        tables.append(
            Table("settings", "Settings that all share" if apart else "Settings", ("key", "value"), same, folded=True)
        )
    return tuple(tables)


def shown_tree(run: ReportedRun) -> Tree:
    return {key: value for key, value in run.tree.items() if key not in ("seed", "out", "engine", "given")}


def setting_cells(tree: object) -> Iterator[tuple[str, Cell]]:
    """{a: {b: 1}} -> a.b, 1"""
    return ((key, leaf(value)) for key, value in tree_leaves(tree))


def leaf(value: object) -> Cell:
    """As the file has it; a number stays one for spreadsheets."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float) and isfinite(value):
        return Quoted(str(value))
    return str(value)


def environment(data: ReportData) -> tuple[Table, ...]:
    """One column per environment that differs."""
    found = dict.fromkeys(tuple(setting_cells(record_tree(run.environment))) for run in data.runs if run.environment)
    kept = [dict(facts) for facts in found]
    if not kept:
        return ()
    keys = list(dict.fromkeys(key for facts in kept for key in facts))
    rows = tuple((key.removeprefix("packages."), *(facts.get(key) for facts in kept)) for key in keys)
    names = ("value",) if len(kept) == 1 else tuple(f"environment {i + 1}" for i in range(len(kept)))
    return (Table("environment", "Environment", ("what", *names), rows, folded=True),)
