"""`mooring data`, `data fetch` and `mooring partition`: sources of images, and which client would hold which."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, Root, SettingsArgument, experiments, print_json, say
from mooring.errors import ConfigError, DataError, nearest
from mooring.wording import client_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table
    from rich.text import Text

    from mooring.data import Partition
    from mooring.events import Emit, Event

COLUMN, CLIENT = 14, 16  # characters of a heading, and of a client's name
MOST_COLUMNS = 20  # classes that still fit a terminal as one column each
SHADES = 6
STATES = {True: ("found", "green"), False: ("missing", "red"), None: ("yours", "cyan")}


def data(context: typer.Context, root: Root = None, json: AsJson = False) -> None:
    """List every data source: found or missing, counts, classes, size. `mooring data fetch NAME` downloads one."""
    if context.invoked_subcommand is not None:
        if root is not None or json:
            raise ConfigError([f"options of {context.invoked_subcommand!r}: write them after it"])
        return
    from rich.table import Column
    from rich.text import Text

    from mooring.cli.screen import Screen, plain_table
    from mooring.data import list_sources
    from mooring.wording import size

    infos = list_sources(root)
    if json:
        from dataclasses import asdict

        print_json([asdict(info) for info in infos])
        return
    numbers = ("train", "test", "classes", "image", "on disk")
    table = plain_table(
        Column("source", style="bold", no_wrap=True),
        "",
        *(Column(heading, justify="right", no_wrap=True) for heading in numbers),
    )
    notes = []
    for info in infos:
        state = Text(*STATES[info.found])
        if info.found:
            image = "x".join(map(str, info.shape or ()))
            on_disk = size(info.nbytes) if info.nbytes else "embedded"
            counts = (f"{info.train:,}", f"{info.test:,}", str(info.classes), image, on_disk)
        else:
            counts = ("", "", "", "", "")
        table.add_row(info.name, state, *counts)
        notes.append((info.name, info.note))
    console = Screen()
    console.print(table)
    console.print()
    for name, note in notes:
        lines = wrap(f"{name}: {note}", console.width, break_long_words=False, break_on_hyphens=False)
        console.print(Text.assemble((name, "bold"), "\n".join(lines).removeprefix(name)), soft_wrap=True)


def fetch(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A public data set; `mooring data` lists them.")],
    root: Root = None,
) -> None:
    """Download and verify a public data set; an interrupted download resumes."""
    from mooring.data import list_sources
    from mooring.fetch import OFFICIAL
    from mooring.fetch import fetch as bring

    if name not in OFFICIAL:
        raise ConfigError([f"{name!r}: is not a public data set; {nearest(name, OFFICIAL)}"])
    with download_progress() as emit:
        folder = bring(OFFICIAL[name], root, emit)
    (info,) = (info for info in list_sources(root) if info.name == name)
    if not info.found:
        raise DataError(info.note)
    say(f"{name}: {info.train:,} training and {info.test:,} test images, {folder}")
    where = "" if root is None else f" data.root={root}"
    say(f"use it: mooring run data.source={name}{where}")


@contextmanager
def download_progress() -> Iterator["Emit"]:
    """A row for each file."""
    from mooring.cli.live import LiveRow, live
    from mooring.events import Downloaded
    from mooring.wording import size

    with live() as display:
        rows: dict[str, LiveRow] = {}

        def show(event: "Event") -> None:
            if not isinstance(event, Downloaded):
                return
            if event.file not in rows:
                row = rows[event.file] = display.add(LiveRow(event.file))
                row.before = event.done
            row = rows[event.file]
            row.done, row.total = event.done, event.total
            of_all = "" if event.total is None else f" of {size(event.total)}"
            seconds = max(monotonic() - row.since, 1e-3)
            row.text = f"{size(event.done)}{of_all}, {size((event.done - row.before) / seconds)}/s"
            if event.resumed:
                display.say(f"{event.file}: goes on at {size(event.done)}")
            elif row.complete:
                display.note(f"{event.file}: {size(event.done)}")
            else:
                display.changed(row)

        yield show


def partition(
    settings: SettingsArgument = None,
    export: Annotated[Path | None, typer.Option(help="Also write the partition to this file (JSON).")] = None,
    json: AsJson = False,
) -> None:
    """Preview the partition: labels per client, entropy, sizes, overlap. Takes the settings of `run`."""
    experiment = experiments(settings)[0]
    from mooring.cli.live import working
    from mooring.cli.progress import show_reading
    from mooring.cli.screen import Screen
    from mooring.data import export_partition as write
    from mooring.execution import partitioned_data

    with working("reading the images", silent=json), show_reading():
        federation = partitioned_data(experiment)
    if export is not None:
        write(federation.partition, str(export))
    if json:
        print_json(federation.summary())
        return
    console = Screen()
    names = [client_name(site.number, site.name) for site in federation.sites()]
    console.print(heat_map(federation.partition, federation.train.classes, names))
    found = federation.partition
    console.print(
        f"\nimages          {found.samples:,}\n"
        f"coverage        {found.coverage:.3f}  the share of the images that clients hold\n"
        f"overlap         {found.overlap:.3f}  images held per image: 1 if none is shared\n"
        f"size variation  {found.size_variation:.3f}  deviation of sizes over their mean: 0 if all are equal\n"
        f"label entropy   {found.normalised_entropy.mean():.3f}  mean of clients: 0 for one class, 1 for all alike\n"
        f"sha256 {found.sha256}"
    )
    if share := experiment.data.held_out_share():
        console.print(f"held out        {share:.0%} of every class, for testing: not among these images")


def heat_map(partition: "Partition", classes: tuple[str, ...], names: "Sequence[str]") -> "Table":
    """A row per client, by the name of its site: images of each class, shaded by their share of the class."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("client", style="bold", overflow="fold", max_width=CLIENT)
    narrow = len(classes) <= MOST_COLUMNS
    for name in classes if narrow else (f"{len(classes)} classes, {classes[0]} to {classes[-1]}",):
        shown = between_words(name, COLUMN) if narrow else name
        table.add_column(shown, justify="right", overflow="fold", min_width=4, max_width=COLUMN if narrow else None)
    for heading in ("images", "classes", "label\nentropy"):
        table.add_column(heading, justify="right", min_width=7)
    totals = partition.counts.sum(0).clip(min=1)
    for client, counts in enumerate(partition.counts):
        cells = [shaded(f"{n:>4}", n / total) for n, total in zip(counts.tolist(), totals.tolist(), strict=True)]
        if not narrow:
            cells = [strip(counts.tolist(), totals.tolist())]
        table.add_row(
            between_words(names[client], CLIENT),
            *cells,
            f"{partition.sizes[client]:,}",
            str(partition.classes_per_client[client]),
            f"{partition.normalised_entropy[client]:.3f}",
        )
    return table


def between_words(name: str, width: int) -> str:
    """`squamous_cell_carcinoma` on lines that end after `_`, `-`, `.` or a space; a longer word is folded."""
    lines = [""]
    for piece in re.findall(r"[^_\-. ]*[_\-. ]?", name):
        if lines[-1] and len(lines[-1] + piece.rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def shaded(text: str, share: float) -> "Text":
    """A cell, the darker the larger its share; readable on light and dark terminals."""
    from rich.style import Style
    from rich.text import Text

    if share == 0:
        return Text("·".rjust(len(text)), Style(dim=True))
    level = min(int(share * SHADES), SHADES - 1)
    blue = 255 - 30 * level
    return Text(
        text,
        Style(bgcolor=f"rgb({220 - 35 * level},{232 - 25 * level},{blue})", color="black" if level < 3 else "white"),
    )


def strip(counts: list[int], totals: list[int]) -> "Text":
    """Many classes as one strip of blocks."""
    from rich.text import Text

    blocks = " ▁▂▃▄▅▆▇█"
    return Text("".join(blocks[-(-n * 8 // total)] for n, total in zip(counts, totals, strict=True)))
