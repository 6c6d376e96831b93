"""`mooring study`: a lab note run again, and each of its claims decided."""

import re
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from mooring.cli.arguments import FAILED, AsJson, as_object, begin_workers, command, print_json, resumable, say, trusted
from mooring.errors import ConfigError, ExtraError, nearest

if TYPE_CHECKING:
    from rich.text import Text

    from mooring.config import Trust
    from mooring.notes import ScaleName, Study, StudyRecord

STUDIES = Path("studies-out")
WIDTH = 80  # of the summary
TOO_LONG = 4  # lines that introduce a study
INDENT = "   "
ABOUT = """A study runs a lab note again and decides each of its claims: confirmed, not
confirmed, or not visible at this scale. scale=quick takes minutes on the
embedded digits; scale=cpu and scale=full use real images. Run: mooring study 5
"""
OURS = ("scale", "seeds", "out")  # every other key=value goes to the runs


def study(
    number: Annotated[str | None, typer.Argument(help="Which note, 1 to 5; without it, the list of them.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[scale=quick|cpu|full] [seeds=1,2,3] [KEY=VALUE]", help="Also out=... and data.root=..."
        ),
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="Processes; default: one per core.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only what was found.")] = False,
    table: Annotated[
        bool, typer.Option("--table", help="Also every claim, what was measured, and its verdict.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Run a lab note again and decide each of its claims.

    After an interruption, the same command continues.
    """
    if number is not None and workers != 1:
        begin_workers("mooring.sweeps._worker")
    from mooring.cli.live import getting_ready

    with getting_ready():
        from mooring.notes import load_study, study_file, study_files
    if number is None:
        say(ABOUT)
        for key, file in study_files().items():
            chosen = load_study(file)
            say(f"{key}  {chosen.title}")
            for line in opening(chosen.about):
                say(line)
        return
    chosen, scale, out, rest = study_arguments(load_study(study_file(number)), settings or [])
    from mooring.cli.sweep_progress import sweep_progress
    from mooring.notes import run_study

    with resumable():
        record = run_study(chosen, scale, rest, out, partial(sweep_progress, silent=quiet or json), workers, command())
    if json:
        print_json({"folder": str(out), **as_object(record)})
    else:
        if table:
            show_claims(record)
        show_summary(record)
        if scale == "quick" and chosen.on_real_images:
            say("\n".join(wrap(f"On real images: {chosen.on_real_images}", WIDTH, break_on_hyphens=False)))
        say(f"Every claim with its numbers: {out / 'study.md'}")
        show_page(out, trusted(False, rest), quiet)
    if record.missing:
        say(f"warning: {len(record.missing)} runs did not finish; the same command tries again", err=True)
        raise typer.Exit(FAILED)


def opening(about: str) -> list[str]:
    """The first sentence, or as many of its clauses as three lines hold."""
    sentence = about.partition(". ")[0].rstrip(".")
    ends = [match.start() for match in re.finditer(r"[,:;] |$", sentence)]
    drawn = [
        wrap(f"{sentence[:end]}.", WIDTH, initial_indent=INDENT, subsequent_indent=INDENT, break_on_hyphens=False)
        for end in ends
    ]
    return max(
        (lines for lines in drawn if len(lines) < TOO_LONG), key=lambda lines: len("".join(lines)), default=drawn[0]
    )


def show_summary(record: "StudyRecord") -> None:
    """In plain lines: what was run, the verdicts on its main claims, and how many claims have each verdict."""
    from rich.text import Text

    from mooring.cli.screen import Screen
    from mooring.notes import verdict_counts

    screen = Screen(soft_wrap=True)

    def indented(text: str) -> None:
        """In the width of a terminal; `0.4 ± 0.1` and `n = 3` stay in one piece."""
        for line in wrap(text.replace(" ± ", "\xa0±\xa0").replace(" = ", "\xa0=\xa0"), WIDTH - 2):
            screen.print("  " + line.replace("\xa0", " "))

    screen.print(Text.assemble(f"Lab note {record.study} run again, scale {record.scale}: ", (record.title, "bold")))
    indented(f"{len(record.runs)} runs on {record.ran}; methods {', '.join(record.methods)}")
    screen.print(f"What was seen, mean ± standard deviation over seeds {', '.join(map(str, record.seeds))}:")
    if record.tested:
        screen.print(f"(accuracies on {record.tested})")
    for row in record.highlights:
        screen.print(Text.assemble(f"{row.says}: ", verdict_text(row.verdict)))
        indented(row.measured)
    for line in wrap(f"Of {len(record.verdicts)} claims: {verdict_counts(record)}.", WIDTH):
        screen.print(line)


def show_claims(record: "StudyRecord") -> None:
    """One line per claim: what the note says, what was measured, the verdict."""
    from rich.table import Table

    from mooring.cli.screen import Screen

    table = Table("claim", "the note says", "measured", "verdict", pad_edge=False, show_lines=True)
    for row in record.verdicts:
        table.add_row(row.claim, row.documented, row.measured, verdict_text(row.verdict))
    Screen(highlight=True).print(table)


def verdict_text(verdict: str) -> "Text":
    """In the colour that the report has for it."""
    from rich.text import Text

    from mooring.notes import TONES
    from mooring.reports import TONE_COLOURS

    return Text(verdict, TONE_COLOURS[TONES[verdict]])


def show_page(out: Path, trust: "Trust", quiet: bool) -> None:
    """Where the report is; or how to get it, since the study itself has ended well without."""
    from mooring.cli.live import working
    from mooring.notes import report

    try:
        with working("writing the report", silent=quiet):
            page = report(out, trust=trust)
        say(f"The report, for a browser:    {page}")
    except ExtraError as missing:
        say(f"no report page: {missing.problem}; {missing.remedy}, then mooring report {out}", err=True)


def study_arguments(study: "Study", settings: list[str]) -> "tuple[Study, ScaleName, Path, list[str]]":
    """The study with the seeds asked for, its scale, the folder, and what is left for every run."""
    from mooring.notes import ScaleName, with_seeds

    ours = [word for word in settings if word.partition("=")[0] in OURS]
    named = dict(word.split("=", 1) for word in ours if "=" in word)
    valid = get_args(ScaleName)
    scale = named.get("scale", "quick")
    if scale not in valid:
        raise ConfigError([f"scale={scale}: unknown; {nearest(scale, valid)}"])
    if "seeds" in named:
        study = with_seeds(study, valid[valid.index(scale)], seeds_of(named["seeds"]))
    out = Path(named.get("out", STUDIES / f"{study.number}-{scale}"))
    return study, valid[valid.index(scale)], out, [word for word in settings if word not in ours]


def seeds_of(text: str) -> tuple[int, ...]:
    """`1,2` or `1..3`"""
    from mooring.config import parse_values

    seeds = parse_values(text, "seeds")
    if not all(type(seed) is int and seed >= 0 for seed in seeds):
        raise ConfigError([f"seeds={text}: must be whole numbers, for example seeds=1,2 or seeds=1..3"])
    return seeds
