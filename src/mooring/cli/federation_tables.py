"""What the verbs of a federation show in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Column, Table
from rich.text import Text

from mooring.cli.inspecting import SECURE_SUM, Inspected, job_rows
from mooring.cli.screen import Screen, plain_table
from mooring.federation import (
    KINDS,
    JobFile,
    fingerprint,
    key_warnings,
    privacy_spent,
    sum_members,
)
from mooring.models import is_reference
from mooring.wording import duration, size

if TYPE_CHECKING:
    from mooring.federation import Entry, Made, Preview, SumMember
    from mooring.fusion import FittedHead

COLOURS = {"used": "green", "set aside": "yellow", "left out": "dim", "missing": "dim"}


def facts(rows: Sequence[tuple[str, str]]) -> None:
    """Two columns, what and how much."""
    table = plain_table(Column(style="bold", no_wrap=True), Column(overflow="fold"), show_header=False)
    for name, value in rows:
        table.add_row(name, value)
    Screen().print(table)


def show_job(job: JobFile, why: str = "") -> None:
    """What a job asks for, and of whom the request comes."""
    images = job.images
    facts(
        [
            ("asked by", f"{job.coordinator} (fingerprint {fingerprint(job.coordinator)})"),
            ("images", f"{images.size} x {images.size} pixels, {'grey' if images.channels == 1 else 'colour'}"),
            *job_rows(job.manifest, job.sha256, job.work.needs, why),
        ]
    )
    show_warnings(key_warnings(job.manifest.sites, job.coordinator))


def show_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        Screen().print(f"warning: {warning}", style="yellow")


def show_members(job: JobFile, home: Path) -> None:
    """With whom a site adds up its numbers; nothing for other jobs."""
    members = sum_members(job, home)
    if members:
        facts([("secure sum", SECURE_SUM), *((row.site, member_text(row)) for row in members)])
        show_warnings(key_warnings(job.manifest.sites, job.coordinator))
        if not any(row.pinned for row in members):
            say_dim("ask the sites for their fingerprints, then compare: mooring keys --pin SITE=FINGERPRINT")


def member_text(row: "SumMember") -> str:
    return f"fingerprint {row.fingerprint}{', pinned' if row.pinned else ''}"


def say_dim(text: str) -> None:
    Screen().print(text, style="dim")


def show_preview(job: JobFile, site: str, found: "Preview") -> None:
    """What would happen at a site."""
    table = plain_table(
        Column("folder", overflow="fold"), Column("class", overflow="fold"), Column("images", justify="right")
    )
    for folder in found.folders:
        label = Text("none: left out, or use --map", "yellow") if folder.label is None else folder.label
        table.add_row(folder.name, label, str(len(folder.files)))
    for label in found.missing:
        table.add_row(Text("-", "dim"), label, "0")
    console = Screen()
    console.print(table)
    if found.images:
        message = f"{site} would train on {found.images} images, in about {duration(found.seconds)}"
        console.print(f"\n{message}, and send about {size(found.bytes)}:")
        console.print(bullet_list(found.reveals))
    if found.members:
        facts([("secure sum with", ""), *((row.site, member_text(row)) for row in found.members)])
    show_warnings((*key_warnings(job.manifest.sites, job.coordinator), *found.overlaps))
    if found.budget is not None:
        console.print(f"with it, this account would have sent {found.budget.sentence}")
    for ending, count in found.ignored.items():
        console.print(f"not read: {count} {ending}", style="dim")
    for label, count in found.small.items():
        message = f"{label}: {count} images are fewer than {job.manifest.minimum}; their sums can reveal single images"
        console.print(f"warning: {message}", style="yellow")
    if found.disclosure is not None:
        console.print(f"warning: {found.disclosure}", style="yellow")
    if not found.images:
        message = f"{site} has no image of a class of this job, and would send nothing; use --map FOLDER=CLASS"
        console.print(f"\nwarning: {message}", style="yellow")
    console.print("nothing was written, and nothing was sent", style="dim")


def bullet_list(sentences: Sequence[str]) -> Table:
    """A dash before each; what is long goes on below its own beginning."""
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row("  -", sentence)
    return table


def show_file(path: Path, found: Inspected) -> None:
    signer = "nobody" if found.signer is None else f"{found.signer} (fingerprint {fingerprint(found.signer)})"
    what = f"{path}: {KINDS.get(found.kind, found.kind)}, {size(found.bytes)}"
    facts([("file", what), ("signed by", signer), *found.rows])
    console = Screen()
    if found.tensors:
        console.print("\nwhat leaves the site:")
    for row in found.tensors:
        shapes = ", ".join(dict.fromkeys(" x ".join(f"{side:,}" for side in shape) or "1" for shape in row.shapes))
        how_many = f"{len(row.names)} tensors" if len(row.names) > 1 else row.names[0]
        text = f"{how_many}: {shapes[:200]} numbers, {size(row.bytes)}"
        console.print(bullet_list([row.sentence]))
        console.print(f"    {text}", style="dim", soft_wrap=True)
    for warning in found.warnings:
        console.print(f"warning: {warning}", style="yellow")


def show_log(entries: "Sequence[Entry]") -> None:
    columns = (Column(heading, no_wrap=True) for heading in ("when", "what", "job", "file", "who"))
    table = plain_table(*columns, Column(overflow="fold"))
    for entry in entries:
        who = entry.who if len(entry.who) < 64 else fingerprint(entry.who)[:9]
        table.add_row(entry.at[:16].replace("T", " "), entry.action, entry.job[:8], entry.file[:8], who, entry.words)
    console, budget = Screen(), privacy_spent(entries)
    console.print(table)
    if budget.uploads:
        console.print(f"an image that was behind all of them: {budget.sentence}")


def heads_table(heads: "Sequence[FittedHead]") -> Table:
    """The heads that the same sums give, the best first."""
    numbers = (Column(heading, justify="right") for heading in ("strength", "expected accuracy", "seconds"))
    title = "\nheads from the same sums, compared without images"
    table = plain_table("head", *numbers, title=title, title_justify="left")
    for head in heads:
        table.add_row(*head.cells.values(), f"{head.expected_accuracy or 0.0:.3f}", f"{head.seconds:.1f}")
    return table


def show_made(made: "Made") -> None:
    """Who was used with which weight, who was not and why."""
    site, remarks = Column("site", style="bold", overflow="fold"), Column(overflow="fold")
    table = plain_table(site, "", Column("images", justify="right"), Column("weight", justify="right"), remarks)
    for row in made.fused.decisions:
        weight = "" if row.weight is None else f"{100 * row.weight:.1f} %"
        unknown = "withheld" if row.verdict == "used" else ""
        samples = unknown if row.samples is None else f"{row.samples:,}"
        said = "; ".join(filter(None, (row.reason, row.seen, *row.notes)))
        table.add_row(row.site, Text(row.verdict, COLOURS[row.verdict]), samples, weight, said)
    console = Screen()
    console.print(table)
    if made.fused.heads:
        console.print(heads_table(made.fused.heads))
    console.print(f"\n{made.path}: {size(made.bytes)}", soft_wrap=True)
    console.print(f"SHA-256 {made.sha256}", soft_wrap=True)
    if made.secure:
        console.print(f"{made.kept}: the masked uploads behind it; a sum has no late or leaving sites", soft_wrap=True)
    else:
        console.print(f"{made.kept}: the uploads behind it, for sites that come late or", soft_wrap=True)
        console.print("leave; it stays here")
    for path in made.statements:
        console.print(f"{path}: signed, for the site: the model equals one that never saw it", soft_wrap=True)
    if made.encoder is not None and is_reference(made.encoder):
        console.print("the encoder's file is not in the model: use it with --encoder FILE;")
        console.print("if its licence allows it, add the file with --include-encoder")
