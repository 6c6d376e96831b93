"""The user's own code: where it stands, and what went wrong in it.

A mistake there is reported like any other mistake of a user, in one line with file and line; the house's own keep their
traceback.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from traceback import format_exception, walk_tb
from typing import Any, TypeVar

from mooring.errors import MooringError, UserCodeError

HOUSE = __name__.partition(".")[0]
LIBRARIES = frozenset({"torch", "numpy", "scipy", "sklearn", "PIL", "safetensors"}) | sys.stdlib_module_names
INSTALLED = ("site-packages", "dist-packages")
T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        path = Path(self.file)
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        return f"{shown}:{self.line}"


def blame(error: BaseException) -> Place | None:
    """The line of the user's own code in which this error arose; None where the house is to blame.

    It is the user's when no frame of the house lies within: what libraries do is done for whoever called them.
    """
    if isinstance(error, SyntaxError) and error.filename and not is_ours(error.filename):
        return Place(error.filename, error.lineno or 1)
    within: list[Place] = []
    for frame, line in walk_tb(error.__traceback__):
        package, file = str(frame.f_globals.get("__name__")).partition(".")[0], frame.f_code.co_filename
        if package == HOUSE:
            within.clear()
        elif package not in LIBRARIES and Path(file).is_file():
            within.append(Place(file, line))
    written = [place for place in within if not set(INSTALLED) & set(Path(place.file).parts)]
    return written[-1] if written else within[0] if within else None


def is_ours(file: str) -> bool:
    return Path(file).is_relative_to(Path(__file__).parent)


def explained(error: BaseException, where: str = "") -> UserCodeError | None:
    """The error as one line, `file:line: ValueError: ... (in client 3, round 1)`; None if it is not the user's."""
    place = blame(error)
    if place is None:
        return None
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    text = f"{place}: {type(error).__name__}: {' '.join(message.split())}".rstrip(": ")
    return UserCodeError(f"{text} (in {where})" if where else text, trace="".join(format_exception(error)))


@contextmanager
def explaining(where: str = "") -> Iterator[None]:
    """Within this, an error in the user's code becomes a `UserCodeError` that says where it happened."""
    try:
        yield
    except MooringError:
        raise
    except Exception as error:
        mistake = explained(error, where)
        if mistake is None:
            raise
        raise mistake from error


class RaisedByListener(BaseException):
    """Carries what a caller's listener raised past every handler of ours: it is no failure of a part or a client."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def listening(listener: Callable[[T], None]) -> Callable[[T], None]:
    """The caller's listener; what it raises goes straight to where `as_raised` hands it over."""

    def listen(event: T) -> None:
        try:
            listener(event)
        except Exception as error:
            raise RaisedByListener(error) from error

    return listen


def as_raised(work: Callable[[], T]) -> T:
    """What `work` returns; an exception of the caller's listener comes out as it was raised."""
    try:
        return work()
    except RaisedByListener as carried:
        error = carried.error
    raise error


def place_of(thing: Any) -> Place:
    """Where a class or a function is written; for any other value, where its class is."""
    written = thing if inspect.isclass(thing) or inspect.isfunction(thing) else type(thing)
    try:
        return Place(inspect.getsourcefile(written) or "?", inspect.getsourcelines(written)[1] or 1)
    except (OSError, TypeError):  # made without a file
        return Place(getattr(sys.modules.get(written.__module__), "__file__", None) or written.__module__, 1)


def returned(value: Any, wanted: type[T], part: object, method: str) -> T:
    """What a method of a part returned, if it is what the family promises."""
    if isinstance(value, wanted):
        return value
    place, noun = place_of(getattr(type(part), method)), type(part).__name__
    raise UserCodeError(f"{place}: {noun}.{method} returned {type(value).__name__}", f"return a {wanted.__name__}")
