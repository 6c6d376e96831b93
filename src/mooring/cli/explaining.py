"""`--explain FOLDER` of predict and evaluate: pictures of what predictions rest on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mooring.federation import Explanation, ModelFile, Predictions

ExplainOption = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Folder for pictures of which parts of an image decide."),
]
EXPLAINED = 50  # images at most: each is scored 50 times


def explain_predictions(model: "ModelFile", found: "Predictions", folder: Path) -> None:
    """The first images that could be read."""
    from mooring.cli.progress import show_reading
    from mooring.federation import explain_files

    chosen = [row.file for row in found.read[:EXPLAINED]]
    with show_reading():
        explained = explain_files(model, chosen)
    left = len(found.read) - len(chosen)
    show_written(model, explained, folder, f"; {left} more are not" if left else "")


def explain_evaluation(model: "ModelFile", data: Path, folder: Path) -> None:
    """A few right and wrong examples."""
    from mooring.cli.progress import show_reading
    from mooring.federation import explain_examples

    with show_reading():
        explained = explain_examples(model, data)
    show_written(model, explained, folder)


def show_written(model: "ModelFile", found: "Sequence[Explanation]", folder: Path, left: str = "") -> None:
    from mooring.reports import write_explanations

    written = write_explanations(model, found, folder)
    number = len(written.pictures)
    say(f"{written.page}: {number} images explained{left}; it holds images, keep it at the site", err=True)
