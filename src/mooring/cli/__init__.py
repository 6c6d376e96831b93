"""The command line: one file per verb group. Heavy things are imported when a verb runs, not before."""

import _thread
import atexit
import os
import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import fill
from types import FrameType
from typing import Annotated, NoReturn

import typer
from click import Abort, UsageError
from click.exceptions import NoArgsIsHelpError

from mooring.cli import coordinator, data
from mooring.cli.arguments import INTERRUPTED
from mooring.cli.verbs import LEFT, RIGHT, FrontPage
from mooring.errors import ConfigError, Interruption, MooringError, ReviewError, one_line
from mooring.user_code import explained
from mooring.version import VERSION

LONGEST_LINE = 2000  # characters of a message
COMMAND = ": mooring "  # the beginning of one in a message
IMPORT_PAUSE = 0.05  # seconds after which a Ctrl-C within an import is tried again
SAFE_PATH = "PYTHONSAFEPATH"
UNWRITTEN = 120  # Python's own exit code where the last words could not be written
OUT_OF_MEMORY = ("allocate memory", "out of memory", "failed to map segment", "can't start new thread")
NO_MEMORY = "not enough memory; close other programs, or take fewer workers, a smaller batch or less data"

app = typer.Typer(
    name="mooring",
    cls=FrontPage,
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
        typer.echo(f"mooring {VERSION}")
        raise typer.Exit


for group in (*LEFT, *RIGHT):
    for verb in group.verbs:
        if verb.function is not None:
            app.command(verb.name, cls=verb.command)(verb.function)

sources = typer.Typer(invoke_without_command=True, help=data.data.__doc__)
sources.callback()(data.data)
sources.command("fetch")(data.fetch)
app.add_typer(sources, name="data")

network = typer.Typer(no_args_is_help=True, help=coordinator.flower.__doc__)
network.callback()(coordinator.flower)
network.command("keys")(coordinator.flower_keys)
network.command("wait")(coordinator.flower_wait)
app.add_typer(network, name="flower")


def program() -> NoReturn:
    """Run `main` and exit at once after all output is written: unloading torch would take another second."""
    code = 1  # of a bug, whose traceback comes before
    atexit.register(lambda: end_at_once(code))  # the first to be registered is the last to be called
    try:
        main()
        code = 0
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        raise
    sys.exit(code)


def end_at_once(code: int) -> NoReturn:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (ValueError, AttributeError):  # closed, or never there
            pass
        except OSError:  # nobody reads any more, or the disk is full
            code = code or UNWRITTEN
    os._exit(code)


def main() -> None:
    """A user's mistake, in code of their own too, ends in one line and exit code 2; a bug keeps its traceback."""
    warnings.showwarning = _warn
    with _noted_interrupts() as interrupted, _libraries_of_workers():
        try:
            carry_out()
        except ConfigError as error:
            _leave([f"error: {problem}" for problem in error.problems], error.exit_code)
        except Interruption as interruption:
            _leave([str(interruption)], interruption.exit_code)
        except ReviewError as error:
            _leave([*(f"needs review: {finding}" for finding in error.findings), error.remedy], error.exit_code)
        except MooringError as error:
            _leave([f"error: {error}"], error.exit_code)
        except BrokenPipeError:
            sys.stderr.close()
            sys.exit(1)
        except (SystemExit, KeyboardInterrupt) as ending:
            if isinstance(ending, KeyboardInterrupt) or ending.code == INTERRUPTED:
                _leave(["interrupted"], INTERRUPTED)
            raise
        except Exception as error:
            if lacks_memory(error):
                _leave([f"error: {NO_MEMORY}"], MooringError.exit_code)
            if interrupted.is_set():  # in the middle of a library's import, say: what it made of it helps nobody
                _leave(["interrupted"], INTERRUPTED)
            mistake = explained(error)
            if mistake is None:
                raise
            _leave([f"error: {mistake}"], mistake.exit_code)


def carry_out() -> None:
    """Run the named verb; errors of usage are reported like other mistakes of the user."""
    try:
        code = app(prog_name="mooring", standalone_mode=False)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except UsageError as error:
        raise ConfigError([misused(error)]) from None
    except Abort:
        raise KeyboardInterrupt from None
    if code:
        sys.exit(code)


def misused(error: UsageError) -> str:
    """`no such command 'rn'; did you mean 'run'? (mooring --help)`"""
    message = re.sub(r"\.? Did you mean", "; did you mean", error.format_message()).rstrip(".")
    where = f" ({error.ctx.command_path} --help)" if error.ctx else ""
    return f"{message[:1].lower()}{message[1:]}{where}"


def _leave(lines: list[str], code: int) -> NoReturn:
    for line in lines:
        shown = one_line(line)
        print(on_screen(shown if len(shown) <= LONGEST_LINE else f"{shown[:LONGEST_LINE]}..."), file=sys.stderr)
    sys.exit(code)


def on_screen(line: str) -> str:
    """In a terminal, broken between words; a command at its end stays whole, to be copied. Elsewhere one line."""
    if not sys.stderr.isatty():
        return line
    width = get_terminal_size().columns
    said, colon, command = line.rpartition(COMMAND)
    if len(line) <= width or not colon:
        return fill(line, width, break_long_words=False, break_on_hyphens=False)
    message = fill(f"{said}:", width, break_long_words=False, break_on_hyphens=False)
    return f"{message}\n{COMMAND.removeprefix(': ')}{command}"


@contextmanager
def _noted_interrupts() -> Iterator[threading.Event]:
    """The usual KeyboardInterrupt, and an event that remembers that there was one.

    In the middle of an import it waits for the end of the import: compiled libraries can abort the process there.
    """
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(_: int, frame: FrameType | None) -> None:
        noted.set()
        if not _importing(frame):
            raise KeyboardInterrupt
        again = threading.Timer(IMPORT_PAUSE, _interrupt_main)
        again.daemon = True
        again.start()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)


def _interrupt_main() -> None:
    """Like Ctrl-C: it wakes the main thread from waiting, which `interrupt_main` does not."""
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


@contextmanager
def _libraries_of_workers() -> Iterator[None]:
    """Worker processes import no library from the current folder either: Python would search it first."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def lacks_memory(error: Exception) -> bool:
    """Python, torch and the system have different messages; checking them needs no further import."""
    said = str(error).lower()
    return isinstance(error, MemoryError) or any(words in said for words in OUT_OF_MEMORY)


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    print(f"warning: {one_line(str(message))}", file=sys.stderr)
