"""`mooring report`, `compare`, `track`, `verify` and `clean`: what is done with the folders of finished runs."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import AsJson, PositiveOption, TrustCode, as_object, print_json, say, trusted
from mooring.errors import ConfigError, nearest

TERMINAL = "terminal"  # is printed, unless a file is named
AcrossTracks = Annotated[bool, typer.Option("--across-tracks", help="Compare experiments of different tracks.")]
FORMAT_NAMES = "html, csv, markdown, latex, excel, figures, pdf or terminal"
QUESTIONS = (
    "What was run",
    "Which is best",
    "What to mistrust",
    "How good it is",
)  # of the page, whose answers are printed too


def report(  # noqa: PLR0913, PLR0917
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A run, a sweep or a study.")],
    format_: Annotated[
        str | None,
        typer.Option("--format", "-f", help=f"{FORMAT_NAMES}; or an ending such as xlsx."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; by default into the folder.")] = None,
    figure: Annotated[str | None, typer.Option(help="Only this figure, such as accuracy, as pdf, svg or png.")] = None,
    table: Annotated[
        str | None, typer.Option(help="Only this table, such as results: as latex for \\input, markdown or csv.")
    ] = None,
    across_tracks: AcrossTracks = False,
    positive: PositiveOption = None,
    trust_code: TrustCode = False,
) -> None:
    """Write one self-contained page, or its content for a paper or a spreadsheet.

    `--format terminal` prints its text and tables here.
    """
    if figure is not None and table is not None:
        raise ConfigError(["--figure and --table: write one at a time"])
    from mooring.cli.live import working

    with working(f"reading {folder} and writing the report"):
        from mooring.notes import NOTES_EXTENSION
        from mooring.reports import named_format, report_on, save_figure, save_table

        whole = figure is None and table is None
        chosen = named_format(format_ or "html") if whole else None
        found = report_on(Path(folder), trusted(trust_code), positive, NOTES_EXTENSION, across_tracks)
        if figure is not None:
            paths = save_figure(found, figure, format_ or "pdf", out, Path(folder))
        elif table is not None:
            paths = [save_table(found, table, format_ or "latex", out, Path(folder))]
        else:
            printed = format_ == TERMINAL and out is None
            paths = [] if printed or chosen is None else [chosen.save(found, out, Path(folder) / chosen.name)]
    for path in paths:  # after the live display has ended, which would share the line
        say(str(path))
    if paths:
        return
    from mooring.cli.screen import Screen
    from mooring.reports import show_report

    show_report(found, Screen())


def compare(
    folders: Annotated[list[str], typer.Argument(metavar="RUN RUN...", help="Folders of runs or sweeps, two or more.")],
    format_: Annotated[str, typer.Option("--format", "-f", help=f"{FORMAT_NAMES}.")] = "html",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default comparison.html here.")] = None,
    across_tracks: AcrossTracks = False,
    positive: PositiveOption = None,
    trust_code: TrustCode = False,
) -> None:
    """Compare separate runs: what differs, which is best, and whether that is settled.

    Runs that differ by seed become one line; lines on the same data are paired by seed.
    """
    from mooring.cli.live import working

    with working("reading the runs and writing the comparison"):
        from mooring.notes import NOTES_EXTENSION
        from mooring.reports import comparison, named_format

        chosen = named_format(format_)
        report = comparison(
            [Path(folder) for folder in folders], trusted(trust_code), positive, NOTES_EXTENSION, across_tracks
        )
        path = chosen.save(report, out, chosen.comparison)
    from mooring.cli.screen import Screen

    screen = Screen()
    for answer in report.answers:
        if answer.question in QUESTIONS:
            screen.print(answer.text)
    say(f"{'open in a browser' if path.suffix == '.html' else 'written'}: {path}")


def track(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN...", help="Run folders, or sweep folders with runs/ inside.")
    ],
    to: Annotated[str, typer.Option(help="tensorboard or mlflow.")],
    out: Annotated[Path | None, typer.Option(help="Default: the folder tensorboard, or the file mlflow.db.")] = None,
) -> None:
    """Show runs in TensorBoard or MLflow.

    Repeat the command to update a running run.
    """
    from mooring.track import TRACKERS
    from mooring.track import track as show

    if to not in TRACKERS:
        raise ConfigError([f"--to {to}: unknown; {nearest(to, TRACKERS)}"])
    place = out or Path(TRACKERS[to].usual)
    tracker = TRACKERS[to](place)
    names = [name for run in runs for name in show(run, tracker)]
    say(f"{len(names)} {'run' if len(names) == 1 else 'runs'} in {place}")


def clean(runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders of finished runs.")]) -> None:
    """Remove the clients' states of finished runs; uploads and results stay."""
    from mooring.record import RunFolder, discard_states, locked
    from mooring.wording import size

    for run in runs:
        folder = Path(run)
        _ = RunFolder(folder).result  # an unfinished run is rejected: its states are all it has
        with locked(folder):
            say(f"{run}: {size(discard_states(folder))} removed")


def verify(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Folders of finished runs.")],
    json: AsJson = False,
) -> None:
    """Check that a run folder is unchanged: configuration, events, uploads, result and other fusions.

    Exit code 1 when something has changed or is missing, 0 otherwise.
    """
    from mooring.record import RunFolder
    from mooring.record import verify as check

    found = {run: check(RunFolder(Path(run))) for run in runs}
    if json:
        print_json({run: [as_object(file) for file in files] for run, files in found.items()})
    else:
        for run, files in found.items():
            wrong = [file for file in files if file.state != "as written"]
            for file in wrong:
                say(f"{run}: {file.file}: {file.state}")
            say(f"{run}: {len(files) - len(wrong)} of {len(files)} files as written")
    if any(file.state != "as written" for files in found.values() for file in files):
        raise typer.Exit(1)
