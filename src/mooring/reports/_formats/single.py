"""One figure or one table of a report in a file of its own, for a paper."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from mooring.errors import ConfigError, nearest
from mooring.methods import TRACKS
from mooring.record import write_atomically
from mooring.reports._formats.latex import bare_table
from mooring.reports._formats.pictures import KINDS, drawn_as, file_name
from mooring.reports._formats.text import markdown_table
from mooring.reports._section import Report
from mooring.reports._table import Table, csv_text

TABLES: dict[str, tuple[str, Callable[[Sequence[Table]], str]]] = {  # format -> ending, text
    "latex": ("tex", bare_table),
    "markdown": ("md", lambda tables: "\n\n".join(map(markdown_table, tables)) + "\n"),
    "csv": ("csv", lambda tables: "\n".join(map(csv_text, tables))),
}


def save_figure(report: Report, name: str, kind: str, out: Path | None, folder: Path) -> list[Path]:
    """Write the figures called `name`: one, or one for each track or run that has it."""
    if kind not in KINDS:
        raise ConfigError([f"--format {kind}: is not a format of a figure; {nearest(kind, KINDS)}"])
    found = [figure for figure in report.drawn if name in (file_name(figure), *base_names(figure.slug))]
    if not found:
        reject_name("--figure", name, {base_names(figure.slug)[-1] for figure in report.drawn})
    if out is not None and len(found) > 1:
        raise ConfigError([f"--figure {name}: are {len(found)} figures; name one: {', '.join(map(file_name, found))}"])
    paths = [out or folder / f"{file_name(figure)}.{kind}" for figure in found]
    for figure, path in zip(found, paths, strict=True):
        write_atomically(path, drawn_as(figure, [kind])[kind])
    return paths


def save_table(report: Report, name: str, kind: str, out: Path | None, folder: Path) -> Path:
    """Write the table called `name`, its tracks one below the other; LaTeX without document, caption or float."""
    if kind not in TABLES:
        raise ConfigError([f"--format {kind}: is not a format of a single table; {nearest(kind, TABLES)}"])
    found = [table for table in report.tables if name in base_names(table.slug)]
    if not found:
        reject_name("--table", name, {base_names(table.slug)[-1] for table in report.tables})
    ending, text = TABLES[kind]
    path = out or folder / f"{name}.{ending}"
    write_atomically(path, text(found).encode())
    return path


def reject_name(option: str, name: str, names: set[str]) -> NoReturn:
    raise ConfigError([f"{option} {name}: unknown; {nearest(name, names)} It has: {', '.join(sorted(names))}"])


def base_names(slug: str) -> tuple[str, ...]:
    """`results-statistics-only`, and without its track `results`."""
    tracks = [f"-{track.replace(' ', '-')}" for track in TRACKS]
    return (slug, *(slug.removesuffix(track) for track in tracks if slug.endswith(track)))
