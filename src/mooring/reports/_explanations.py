"""Why a model predicts what it does: a page with pictures, and one PNG for each image. It stays at the site."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from mooring.federation import Explanation, ModelFile
from mooring.record import write_atomically
from mooring.reports._data_check import png, png_bytes
from mooring.reports._formats.html import write_html
from mooring.reports._section import Picture, Report, Section, VerdictLine
from mooring.reports._table import Table
from mooring.wording import plural

PAGE = "index.html"
NEAREST = 3  # classes
LEAD = (
    "Left the image as the model sees it, right what the prediction rests on: where orange is covered with the mean "
    "colour, the predicted class becomes less likely; where blue is covered, more likely. A map shows what the model "
    "uses, and not whether that is right."
)


@dataclass(frozen=True)
class ExplanationsWritten:
    page: Path
    pictures: tuple[Path, ...]


def write_explanations(model: ModelFile, found: Sequence[Explanation], folder: Path) -> ExplanationsWritten:
    """`index.html` and a picture for each image, in their order."""
    pictures = []
    for number, one in enumerate(found, 1):
        path = folder / f"{number:03d}-{one.prediction.file.stem}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, png_bytes(one.picture()))
        pictures.append(path)
    write_html(explanation_report(model, found), folder / PAGE)
    return ExplanationsWritten(folder / PAGE, tuple(pictures))


def explanation_report(model: ModelFile, found: Sequence[Explanation]) -> Report:
    groups = {
        "Wrong predictions": [one for one in found if one.truth not in (None, one.prediction.first.label)],
        "Right predictions": [one for one in found if one.truth == one.prediction.first.label],
        "Predictions": [one for one in found if one.truth is None],
    }
    return Report(
        title="Why these predictions",
        subtitle=plural(len(found), "image"),
        cards=(),
        verdicts=(
            VerdictLine("open", "keep", "This page holds images: keep it at the site."),
            *(VerdictLine("open", "limits", f"{line[:1].upper()}{line[1:]}.") for line in model.limits),
        ),
        sections=tuple(section_of(title, model, own) for title, own in groups.items() if own),
    )


def section_of(title: str, model: ModelFile, found: Sequence[Explanation]) -> Section:
    table = Table(
        title.partition(" ")[0].lower(),
        "Nearest class means" if any(one.prediction.nearest for one in found) else "Classes",
        (
            "file",
            "true class",
            "predicted",
            model.confidence,
            "unusualness",
            "nearest (distance)",
            "warning",
        ),
        tuple(
            (
                one.prediction.file.name,
                one.truth,
                one.prediction.first.label,
                f"{one.prediction.first.confidence:.3f}",
                None if one.prediction.unusualness is None else f"{one.prediction.unusualness:.2f}",
                ", ".join(f"{near.label} {near.distance:.2f}" for near in one.prediction.nearest[:NEAREST]) or None,
                "; ".join(one.prediction.warnings) or None,
            )
            for one in found
        ),
        "A distance of 1 is usual for a training image and its own class.",
    )
    pictures = tuple((Picture(png(one.picture()), caption(one)),) for one in found)
    return Section(title.lower().replace(" ", "-"), title, LEAD, tables=(table,), pictures=pictures)


def caption(one: Explanation) -> str:
    """`3.png: cat 0.91, in truth dog`"""
    first = one.prediction.first
    truth = f", in truth {one.truth}" if one.truth not in (None, first.label) else ""
    return f"{one.prediction.file.name}: {first.label} {first.confidence:.2f}{truth}"
