"""`mooring compare`: the page of a sweep, for runs that were made separately."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import PositiveOption, TrustCode, say, trusted

SAID = ("What was run", "Which is best", "How good it is")  # of the page, here too


def compare(
    folders: Annotated[list[str], typer.Argument(metavar="RUN RUN...", help="Folders of runs or sweeps, two or more.")],
    format_: Annotated[
        str, typer.Option("--format", "-f", help="html, csv, markdown, latex, excel, figures or pdf.")
    ] = "html",
    out: Annotated[Path | None, typer.Option(help="Where to write; by default comparison.html here.")] = None,
    positive: PositiveOption = None,
    trust_code: TrustCode = False,
) -> None:
    """Set runs that were made separately side by side: what differs, which is best, and whether that is settled.

    Runs that differ by their seed alone become one line; lines on the same data are compared pair by pair of seeds.
    """
    from mooring.cli.live import working

    with working("reading the runs and writing the comparison"):
        from mooring.notes.reporting import NOTES
        from mooring.reports import comparison, write_comparison
        from mooring.reports.formats import named_format

        chosen = named_format(format_)
        report = comparison([Path(folder) for folder in folders], trusted(trust_code), positive, NOTES)
        path = write_comparison(report, chosen, out)
    from mooring.cli.screen import Screen

    screen = Screen()
    for answer in report.answers:
        if answer.question in SAID:
            screen.print(answer.text)
    say(f"{'open in a browser' if path.suffix == '.html' else 'written'}: {path}")
