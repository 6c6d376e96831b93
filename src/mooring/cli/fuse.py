"""`mooring fuse RUN`: other fusions over the uploads of a finished run, in seconds."""

import re
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, TrustCode, print_json, say, trusted
from mooring.cli.help import files_command
from mooring.errors import ConfigError, FusionError, Interruption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mooring.federation import EncoderKept
    from mooring.fusion import Fusion
    from mooring.record import FusionRecord, Result

ALL = "all"
USUAL_FUSIONS = "feature-ensemble,count-weighted,class-expert"
SPAN = re.compile(r"([0-9]{1,18})(?:\s*-\s*([0-9]{1,18}))?")


def fuse(  # noqa: PLR0913, PLR0917
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder of a finished run.")],
    settings: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[KEY=VALUE]", help="Settings such as fusion.ridge=0.1, or data.root=... if the data has moved."
        ),
    ] = None,
    fusion: Annotated[
        str | None,
        typer.Option("--fusion", "-f", help="A rule, several with commas, or all; of sums by default every head."),
    ] = None,
    clients: Annotated[str | None, typer.Option(help="Only these clients, e.g. 0,2-4.")] = None,
    without: Annotated[str | None, typer.Option(help="All but these clients, e.g. 1.")] = None,
    at_round: Annotated[
        int | None, typer.Option("--round", help="A kept round, counted from 1; else the last.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the model of the one rule that is named.")] = None,
    include_encoder: Annotated[
        bool,
        typer.Option("--include-encoder", help="Put the encoder into the model, if its licence allows; else its hash."),
    ] = False,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Fuse the uploads of a run by other rules, without training again: mooring fuse RUN --fusion class-expert

    If the run itself uses the rule, its settings are the defaults. For a run over sums, all heads are compared.
    To fuse the files of sites, use mooring fuse-files.
    """
    if is_file(run):
        raise ConfigError([f"{run}: is a file, not the folder of a run; fuse files with: {files_command()}"])
    if include_encoder and out is None:
        raise ConfigError(["--include-encoder: is for a model; add --out"])
    from mooring.cli.live import getting_ready

    with getting_ready():
        from mooring.config import load_fusions
        from mooring.execution import FinishedRun, fusion_of

    of_data = [word for word in settings or [] if word.startswith(("data.", "partition."))]
    trust = trusted(trust_code, [fusion or USUAL_FUSIONS, *(settings or [])])
    own = fusion_of(Path(run), of_data, trust)  # its settings are the defaults of the same rule
    rules = heads_of_rule(own) if fusion is None and own is not None else []
    rules = rules or load_fusions(
        fusion or USUAL_FUSIONS, [word for word in settings or [] if word not in of_data], own=own
    )
    if out is not None and len(rules) != 1:
        raise ConfigError([f"--out {out}: is the model of one rule; name it with --fusion"])
    from mooring.cli.sweep_progress import fusion_progress

    kept: EncoderKept = "included" if include_encoder else "named"
    rules = slow_last(rules) if fusion == ALL else rules
    rows: list[FusionRecord] = []
    skipped: list[str] = []
    interrupted = False
    with fusion_progress(len(rules), silent=json) as emit:
        finished = FinishedRun.open(Path(run), emit, of_data, trust)
        at = finished.chosen_round(None if at_round is None else at_round - 1)
        delivered = sorted(finished.result.delivered(at))
        uploads = finished.uploads(at, taking_part(delivered, clients, without))
        try:
            for rule in rules:
                emit.begin(rule.kind, trains(rule))
                try:
                    rows.append(finished.fuse(rule, uploads, out, kept))
                    emit.end(rows[-1])
                except FusionError as error:
                    if fusion != ALL:
                        raise
                    skipped.append(str(error))
                    emit.skip(error.problem)
        except KeyboardInterrupt:
            interrupted = True
    if json:
        print_json(rows[0] if len(rows) == 1 else rows)
    else:
        show_fusions(rows, len(delivered), finished.result)
        written = [f"kept in: {run}/fusions", *([] if out is None else [f"model: {out}"])]
        for line in written if rows else ():
            say(line)
        for reason in skipped:
            say(f"left out: {reason}", err=True)
    if interrupted:
        done = f"{len(rows)} of {len(rules)} rules are fused, and kept in {quote(f'{run}/fusions')}"
        raise Interruption("interrupted", done)


def show_fusions(rows: "list[FusionRecord]", delivered: int, trained: "Result") -> None:
    from mooring.cli.screen import Screen
    from mooring.reports import fusion_tables, show_tables

    show_tables(fusion_tables(rows, delivered, trained), Screen())


def heads_of_rule(own: "Fusion") -> "list[Fusion]":
    """The rule of a run over sums with every head that can be computed from them; no rule for any other run."""
    from mooring.fusion import ALL_HEADS, LinearHeadFusion

    return [replace(own, solver=solver) for solver in ALL_HEADS] if isinstance(own, LinearHeadFusion) else []


def is_file(word: str) -> bool:
    """A run is a folder; any other file, or a name with the suffix of a Mooring file, is not."""
    path = Path(word)
    return not path.is_dir() and (path.is_file() or path.suffix == ".mooring")


def trains(rule: "Fusion") -> bool:
    """Does this rule train at the server?"""
    from mooring.fusion import TRAINS_AT_SERVER

    return rule.cost == TRAINS_AT_SERVER


def slow_last(rules: "Sequence[Fusion]") -> "list[Fusion]":
    """Rules that train at the server come last; all others keep their order."""
    return sorted(rules, key=trains)


def taking_part(delivered: list[int], clients: str | None, without: str | None) -> list[int]:
    """The clients to fuse."""
    chosen = delivered if clients is None else numbers("clients", clients, delivered)
    left_out = [] if without is None else numbers("without", without, delivered)
    return [client for client in chosen if client not in left_out]


def numbers(option: str, text: str, delivered: list[int]) -> list[int]:
    """`0,2-4` -> [0, 2, 3, 4]; none that did not deliver."""
    found, known = set[int](), set(delivered)
    for part in text.split(","):
        span = SPAN.fullmatch(part.strip())
        if span is None:
            raise ConfigError([f"--{option} {text}: must be client numbers such as 0,2-4"])
        wanted = range(int(span[1]), int(span[2] or span[1]) + 1)
        absent = next((client for client in wanted if client not in known), None)
        if absent is not None:
            valid = ", ".join(map(str, delivered))
            raise ConfigError([f"--{option} {text}: client {absent}: uploaded nothing in this run; valid: {valid}"])
        found |= set(wanted)
    return sorted(found)
