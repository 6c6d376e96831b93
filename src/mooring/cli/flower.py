"""`mooring flower keys` and `mooring flower wait`: what a federation over Flower needs beside Flower."""

from pathlib import Path
from typing import Annotated

import typer

from mooring.cli.arguments import say


def keys(
    sites: Annotated[list[str], typer.Argument(metavar="SITE...", help="Names of the sites.")],
    out: Annotated[Path, typer.Option(help="An empty folder, or one that is not there yet.")] = Path("federation"),
    host: Annotated[str, typer.Option(help="Name or address of the SuperLink's machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")] = 8000,
) -> None:
    """Make TLS certificates and SuperNode keys for a test federation over Flower."""
    from mooring.flower_app.keys import CONNECTION, make_keys

    made = make_keys(out, sites, host, port)
    say(f"written: {made.folder}: ca.crt, superlink.crt and .key, a key for {', '.join(made.sites)}")
    say(f"give each site its folder and ca.crt; with FLWR_HOME={made.home}, flwr knows the SuperLink as {CONNECTION}")


def wait(
    superlink: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where the SuperLink will listen.")],
    seconds: Annotated[float, typer.Option(min=0, help="How long to wait for it at most.")] = 60,
) -> None:
    """Wait until a SuperLink that was just started takes connections; exit code 2 if it does not."""
    from mooring.flower_app.waiting import wait_for

    wait_for(superlink, seconds)


def about() -> None:
    """A federation over Flower (extra flower): docs/flower.md tells the whole way."""
