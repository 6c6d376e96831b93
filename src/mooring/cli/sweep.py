"""`mooring sweep`: many runs, one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mooring.cli.arguments import FAILED, AsJson, PositiveOption, begin_workers, command, print_json, resumable

if TYPE_CHECKING:
    from mooring.config import Plan
    from mooring.sweeps import SweepTables

SWEEPS = Path("sweeps")


def sweep(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILE] KEY=VALUE[,VALUE...]",
            help="A file, then settings; one with several values (v4,v7 or 1..3) is a factor.",
        ),
    ],
    baseline: Annotated[
        str | None, typer.Option("--baseline", help="Compare with this value of a factor, such as method=v4.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one per core.")] = None,
    engine: Annotated[
        Literal["local", "ray"], typer.Option("--engine", help="Here, or on a Ray cluster that is already there.")
    ] = "local",
    positive: PositiveOption = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the table.")] = False,
    json: AsJson = False,
) -> None:
    """Run every combination of the factors, and compare: mooring sweep method=v4,v7 partition.alpha=0.05,0.5 seed=1..3

    Runs that differ only in `fusion` share their training. After an interruption, the same command continues.
    """
    if workers != 1 and engine == "local":
        begin_workers("mooring.sweeps._worker")
    from mooring.cli.live import getting_ready

    with getting_ready():
        plan, out = sweep_arguments(words, baseline)
    from mooring.cli.sweep_progress import sweep_progress
    from mooring.sweeps import run_plan

    with resumable(), sweep_progress(plan, out, silent=quiet or json) as emit:
        tables = run_plan(plan, out, workers, emit, command(), engine).tables
    if json:
        results, summary = tables.result_cells(positive), tables.summary_cells(positive)
        print_json({"folder": str(out), "results": results, "summary": summary})
    else:
        show_outcome(plan, tables, out, positive)
    if tables.failures:
        raise typer.Exit(FAILED)


def show_outcome(plan: "Plan", tables: "SweepTables", out: Path, positive: str | None = None) -> None:
    """The tables of results, then runs that failed, and the folder."""
    from mooring.cli.screen import Screen
    from mooring.reports import show_tables, sweep_tables

    console = Screen()
    show_tables(sweep_tables(plan, tables, positive), console)
    if plan.search is not None and tables.tied:
        tie = f"all {len(tables.summary)} trials have the same validation accuracy; the search found no better setting"
        console.print(
            f"{tie}: use more validation images, more rounds or a wider range", style="yellow", soft_wrap=True
        )
    for name, status in tables.failures.items():
        console.print(f"{name}: {status}", style="yellow", soft_wrap=True)
    console.print(f"sweep folder: {out} (results.csv, summary.csv)", soft_wrap=True)


def sweep_arguments(words: list[str], baseline: str | None) -> "tuple[Plan, Path]":
    """The plan, and the folder that `out=` names; without it, one named after the plan."""
    from hashlib import sha256

    from mooring.config import load_plan, reject_duplicates

    file = Path(words[0]) if words and "=" not in words[0] else None
    rest = reject_duplicates(words[1:] if file else words)
    named = [word.removeprefix("out=") for word in rest if word.startswith("out=")]
    plan = load_plan(file, [word for word in rest if not word.startswith("out=")], baseline)
    return plan, Path(named[-1]) if named else SWEEPS / sha256(plan.identity().encode()).hexdigest()[:8]
