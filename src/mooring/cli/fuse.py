"""`mooring fuse`: other fusions over the uploads of a finished run, in seconds."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, print_json
from mooring.errors import ConfigError, FusionError, Interruption

if TYPE_CHECKING:
    from mooring.record import FusionRecord

ALL = "all"


def fuse(
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
        finished = FinishedRun.open(Path(run), emit, of_data)
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
            typer.echo(f"left out: {reason}", err=True)


def taking_part(delivered: list[int], clients: str | None, without: str | None) -> list[int]:
    """Who is fused."""
    chosen = delivered if clients is None else numbers("clients", clients)
    left_out = [] if without is None else numbers("without", without)
    for client in left_out:
        if client not in delivered:
            raise ConfigError([f"--without {without}: there is no client {client}; valid: {listed(delivered)}"])
    return [client for client in chosen if client not in left_out]


def numbers(option: str, text: str) -> list[int]:
    """`0,2-4` -> [0, 2, 3, 4]"""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.strip().isdigit() or not (last.strip() or first.strip()).isdigit():
            raise ConfigError([f"--{option} {text}: must be client numbers such as 0,2-4"])
        found += range(int(first), int(last or first) + 1)
    return found


def listed(clients: list[int]) -> str:
    return ", ".join(map(str, clients))
