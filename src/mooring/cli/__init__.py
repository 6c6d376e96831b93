"""The command line: one file per verb group. Heavy things are imported when a verb runs, not before."""

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer

from mooring.cli import data, doctor, fetch, folders, fuse, methods, run, study, sweep, watch
from mooring.cli.arguments import INTERRUPTED
from mooring.errors import ConfigError, MooringError
from mooring.user_code import explained

app = typer.Typer(
    name="mooring",
    help="One-shot federated learning that holds: train once, upload once, fuse into one predictor.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def about(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.", is_eager=True)] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"mooring {installed('mooring')}")
        raise typer.Exit


app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("watch")(watch.watch)
app.command("clean")(folders.clean)
app.command("fuse")(fuse.fuse)
app.command("sweep")(sweep.sweep)
app.command("study")(study.study)
app.command("import")(folders.import_)
app.command("methods")(methods.methods)
app.command("fusions")(methods.fusions)
app.command("show")(methods.show)
app.command("doctor")(doctor.doctor)
app.command("report")(folders.report)
app.command("track")(folders.track)
app.command("partition")(data.partition)

sources = typer.Typer(invoke_without_command=True, help=data.data.__doc__)
sources.callback()(data.data)
sources.command("fetch")(fetch.fetch)
app.add_typer(sources, name="data")


def main() -> None:
    """A user's mistake, in code of their own too, ends in one line and exit code 2; a bug keeps its traceback."""
    warnings.showwarning = _warn
    sys.path.insert(0, str(Path.cwd()))  # so that module:NAME in the current folder is found, as with python -m
    try:
        app()
    except ConfigError as error:
        for problem in error.problems:
            print(f"error: {problem}", file=sys.stderr)
        sys.exit(error.exit_code)
    except MooringError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        told = explained(error)
        if told is None:
            raise
        print(f"error: {told}", file=sys.stderr)
        sys.exit(told.exit_code)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {message}", file=sys.stderr)
