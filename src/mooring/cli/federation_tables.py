"""What the verbs of a federation show in the terminal."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from mooring.cli.inspecting import SECURE_SUM, Inspected, key_rows
from mooring.cli.screen import Screen
from mooring.federation import (
    KINDS,
    WORDS,
    JobFile,
    fingerprint,
    key_warnings,
    privacy_spent,
    sentence_of,
    sum_members,
)
from mooring.models import encoder_sentence, is_reference
from mooring.uploads import NoisedMoments
from mooring.wording import duration, size

if TYPE_CHECKING:
    from mooring.federation import Entry, Made, Preview, SumMember
    from mooring.fusion import FittedHead

COLOURS = {"used": "green", "set aside": "yellow", "left out": "dim", "missing": "dim"}


def facts(rows: Sequence[tuple[str, str]]) -> None:
    """Two columns, what and how much."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, value)
    Screen().print(table)


def show_job(job: JobFile, why: str = "") -> None:
    """What a job asks for."""
    manifest, images = job.manifest, job.images
    sentences = dict.fromkeys(sentence_of(plan.name, job.work.needs) for plan in manifest.uploads)
    keys = sum(site.key is not None for site in manifest.sites)
    facts(
        [
            ("job", job.sha256),
            ("asked by", f"{job.coordinator} (fingerprint {fingerprint(job.coordinator)})"),
            ("method", manifest.method + (f" ({why})" if why else "")),
            ("classes", ", ".join(manifest.classes)),
            ("sites", f"{', '.join(job.site_names)} ({keys} with a key)"),
            *key_rows(manifest.sites),
            ("images", f"{images.size} x {images.size} pixels, {'grey' if images.channels == 1 else 'colour'}"),
            *([] if manifest.encoder is None else [("encoder", encoder_sentence(manifest.encoder))]),
            *(("privacy", part.privacy.sentence) for part in job.work.needs if isinstance(part, NoisedMoments)),
            *([("secure sum", SECURE_SUM)] if manifest.secure else []),
            *([("counts", WORDS.partition(": ")[2])] if job.withholds else []),
            ("minimum", f"{manifest.minimum} images of a class that a site has any of"),
            *([] if manifest.most_images is None else [("limit", f"{manifest.most_images:,} images per site")]),
            ("expires", manifest.expires),
            ("upload", f"at most {size(manifest.most_bytes)}:"),
            *(("", sentence) for sentence in sentences),
        ]
    )
    show_warnings(key_warnings(manifest.sites, job.coordinator))


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
    table = Table(box=None, pad_edge=False)
    for heading in ("folder", "class"):
        table.add_column(heading, overflow="fold")
    table.add_column("images", justify="right")
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
    table = Table(box=None, pad_edge=False)
    for heading in ("when", "what", "job", "file", "who", ""):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("when", "what", "job", "file", "who"))
    for entry in entries:
        who = entry.who if len(entry.who) < 64 else fingerprint(entry.who)[:9]
        table.add_row(entry.at[:16].replace("T", " "), entry.action, entry.job[:8], entry.file[:8], who, entry.words)
    console, budget = Screen(), privacy_spent(entries)
    console.print(table)
    if budget.uploads:
        console.print(f"an image that was behind all of them: {budget.sentence}")


def heads_table(heads: "Sequence[FittedHead]") -> Table:
    """The heads that the same sums give, the best first."""
    table = Table(
        box=None, pad_edge=False, title="\nheads from the same sums, compared without images", title_justify="left"
    )
    for heading in ("head", "strength", "expected accuracy", "seconds"):
        table.add_column(heading, justify="left" if heading == "head" else "right")
    for head in heads:
        table.add_row(*head.cells.values(), f"{head.expected_accuracy:.3f}", f"{head.seconds:.1f}")
    return table


def show_made(made: "Made") -> None:
    """Who was used with which weight, who was not and why."""
    table = Table(box=None, pad_edge=False)
    table.add_column("site", style="bold", overflow="fold")
    table.add_column("")
    table.add_column("images", justify="right")
    table.add_column("weight", justify="right")
    table.add_column("", overflow="fold")
    for row in made.fused.decisions:
        weight = "" if row.weight is None else f"{100 * row.weight:.1f} %"
        unknown = "withheld" if row.verdict == "used" else ""
        samples = unknown if row.samples is None else f"{row.samples:,}"
        remarks = "; ".join(filter(None, (row.reason, row.seen, *row.notes)))
        table.add_row(row.site, Text(row.verdict, COLOURS[row.verdict]), samples, weight, remarks)
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
    if made.encoder is not None and is_reference(made.encoder):
        console.print("the encoder's file is not in the model: use it with --encoder FILE;")
        console.print("if its licence allows it, add the file with --include-encoder")
