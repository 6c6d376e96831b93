"""`mooring study`: a lab note run again, and each of its claims decided."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from mooring.cli.arguments import AsJson, print_json
from mooring.errors import ConfigError, nearest

if TYPE_CHECKING:
    from mooring.study.plan import ScaleName

STUDIES = Path("studies-out")
INTERRUPTED = 130


def study(
    number: Annotated[str | None, typer.Argument(help="Which note, 1 to 5; without it, the list of them.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(metavar="[scale=quick|cpu|full] [KEY=VALUE]", help="The scale, out=..., data.root=..."),
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one per core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the verdicts.")] = False,
    json: AsJson = False,
) -> None:
    """Run a lab note again, set what it documents beside what is measured, and decide each of its claims.

    Interrupted, the same command goes on where it was.
    """
    from mooring.study.library import plan, plans
    from mooring.study.plan import load_study

    if number is None:
        for key, file in plans().items():
            typer.echo(f"{key}  {load_study(file).title}")
        return
    chosen = load_study(plan(number))
    scale, out, rest = read(settings or [], number)
    from mooring.cli.study_tables import verdicts_table, watching_sweep
    from mooring.study.conduct import conduct

    try:
        told = conduct(chosen, scale, rest, out, watching_sweep(quiet or json), workers)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on where it was", err=True)
        raise typer.Exit(INTERRUPTED) from None
    if json:
        print_json({"folder": str(out), **told})
        return
    verdicts_table(told)
    for path in (out / "study.md", *reported(out)):
        typer.echo(str(path))


def read(settings: list[str], number: str) -> "tuple[ScaleName, Path, list[str]]":
    """The scale, the folder, and what is left for every run."""
    from mooring.study.plan import ScaleName

    named = dict(word.split("=", 1) for word in settings if word.startswith(("scale=", "out=")))
    scale = named.get("scale", "quick")
    for valid in get_args(ScaleName):
        if scale == valid:
            rest = [word for word in settings if not word.startswith(("scale=", "out="))]
            return valid, Path(named.get("out", STUDIES / f"{number}-{scale}")), rest
    raise ConfigError([f"scale={scale}: unknown; {nearest(scale, get_args(ScaleName))}"])


def reported(out: Path) -> list[Path]:
    """The report page of the study, where reports are installed."""
    from importlib import import_module
    from importlib.util import find_spec

    if find_spec("mooring.report") is None:
        return []
    return [Path(import_module("mooring.report").report(out))]
