"""`mooring fuse`: other fusions over the uploads of a finished run, in seconds."""

import re
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, TrustCode, print_json, say, trusted
from mooring.errors import ConfigError, FusionError, Interruption

if TYPE_CHECKING:
    from mooring.record import FusionRecord

ALL = "all"
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
        str, typer.Option("--fusion", "-f", help="A rule, several with commas, or all.")
    ] = "feature-ensemble,count-weighted,class-expert",
    clients: Annotated[str | None, typer.Option(help="Only these clients, e.g. 0,2-4.")] = None,
    without: Annotated[str | None, typer.Option(help="All but these clients, e.g. 1.")] = None,
    at_round: Annotated[
        int | None, typer.Option("--round", help="A round that was kept, from 0; else the last.")
    ] = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Fuse the uploads of a run by other rules: nothing is trained again.

    A drop-out study leaves clients out: mooring fuse RUN --fusion class-expert --without 3
    """
    from mooring.config import load_fusions

    of_data = [word for word in settings or () if word.startswith(("data.", "partition."))]
    rules = load_fusions(fusion, [word for word in settings or () if word not in of_data])
    from mooring.cli.progress import fusing
    from mooring.simulation import FinishedRun

    with fusing(len(rules), silent=json) as emit:
        finished = FinishedRun.open(Path(run), emit, of_data, trusted(trust_code, [fusion, *(settings or ())]))
        at = finished.chosen_round(at_round)
        delivered = sorted(finished.result.delivered(at))
        uploads = finished.uploads(at, taking_part(delivered, clients, without))
        rows: list[FusionRecord] = []
        skipped: list[str] = []
        for rule in rules:
            emit.begin(rule.kind)
            try:
                rows.append(finished.fuse(rule, uploads))
            except FusionError as error:
                if fusion != ALL:
                    raise
                skipped.append(str(error))
            except KeyboardInterrupt:
                kept = f"{len(rows)} of {len(rules)} rules are fused, and kept in {quote(f'{run}/fusions')}"
                raise Interruption("interrupted", kept) from None
    if json:
        print_json(rows[0] if len(rows) == 1 else rows)
    else:
        from mooring.cli.tables import fusions_table

        fusions_table(run, rows, len(delivered))
        for reason in skipped:
            say(f"left out: {reason}", err=True)


def taking_part(delivered: list[int], clients: str | None, without: str | None) -> list[int]:
    """Who is fused."""
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
