"""The page about a folder of images, and its summary in the terminal."""

from base64 import b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from torch import Tensor

from mooring.check import LEAST, DataCheck, DataFinding
from mooring.reports._formats.html import write_html
from mooring.reports._section import Card, Picture, Report, Section, VerdictLine
from mooring.reports._table import Cell, Table
from mooring.wording import plural

MOST_ROWS = 12  # rows of pictures of one finding
MOST_IN_ROW = 4
SITES = 12  # columns of the table of classes


def write_data_check(check: DataCheck, out: Path) -> None:
    """One HTML file with small pictures of the files in question; it stays at the site."""
    write_html(data_report(check), out)


def data_report(check: DataCheck) -> Report:
    return Report(
        title=f"Data check of {Path(check.root).name or check.root}",
        subtitle=f"{plural(check.images, 'image')} · {plural(len(check.sites), 'site')} · {len(check.classes)} classes",
        cards=(
            Card(str(len(check.decide)), "to decide", "before anything is trained"),
            Card(str(len(check.notes)), "good to know", ""),
            *(
                (Card(f"{check.leaked:,}", "held-out images with copies", f"of {check.held_out:,}"),)
                * bool(check.held_out)
            ),
            Card(f"{check.groups:,}", "groups of copies", "images that show the same picture"),
        ),
        verdicts=tuple(verdict_lines(check)),
        sections=(*finding_sections(check), counts_section(check)),
    )


def verdict_lines(check: DataCheck) -> Iterator[VerdictLine]:
    for finding in check.findings:
        yield VerdictLine(
            "bad" if finding.decide else "open", badge(finding), sentence(finding.text), sentence(finding.remedy)
        )
    if not check.findings:
        yield VerdictLine("good", "sound", "Nothing unusual was found.")


def badge(finding: DataFinding) -> str:
    return "decide" if finding.decide else "note"


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def finding_sections(check: DataCheck) -> Iterator[Section]:
    for number, finding in enumerate(check.findings):
        if not finding.files:
            continue
        rows: tuple[tuple[Cell, ...], ...] = tuple((", ".join(names),) for names in finding.files)
        pictures = tuple(
            tuple(
                Picture(png(check.thumbnails[name]), name) for name in names[:MOST_IN_ROW] if name in check.thumbnails
            )
            for names in finding.files[:MOST_ROWS]
        )
        table = Table(f"files-{number}", "Files", ("file",), rows, folded=any(pictures))
        title = f"{sentence(finding.kind)[:-1]}: {plural(len(finding.files), 'finding')}"
        lead = f"{sentence(finding.text)} {sentence(finding.remedy)}"
        yield Section(f"finding-{number}", title, lead, tables=(table,), pictures=tuple(filter(None, pictures)))


def counts_section(check: DataCheck) -> Section:
    sites = check.statistics[:SITES]
    columns = ("class", "images", *((site.site for site in sites) if len(sites) > 1 else ()))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (label, count, *((site.labels.get(label) for site in sites) if len(sites) > 1 else ()))
        for label, count in check.classes.items()
    )
    note = f"A dash at a site: fewer than {LEAST} images, or none." if len(sites) > 1 else ""
    table = Table("classes", "Images of each class", columns, rows, note)
    return Section("classes", "Classes", "How many images there are of each class.", tables=(table,))


def png(pixels: Tensor) -> str:
    """(3, H, W), uint8, as a data address"""
    return f"data:image/png;base64,{b64encode(png_bytes(pixels)).decode()}"


def png_bytes(pixels: Tensor) -> bytes:
    """(3, H, W), uint8, as a file"""
    from PIL import Image

    held = BytesIO()
    Image.fromarray(pixels.permute(1, 2, 0).numpy()).save(held, "PNG")
    return held.getvalue()
