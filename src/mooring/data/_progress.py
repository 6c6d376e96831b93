"""Progress of reading many files."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic
from typing import TypeVar

from mooring.events import Emit, ImagesRead, silent

T = TypeVar("T")
PATIENCE, EVERY = 2.0, 5.0  # seconds before the first event, and between two events
_LISTENER: ContextVar[Emit] = ContextVar("listener", default=silent)


@contextmanager
def reading_progress(emit: Emit) -> Iterator[None]:
    """Within the block, `emit` gets an event if reading takes more than two seconds, and then every five seconds."""
    token = _LISTENER.set(emit)
    try:
        yield
    finally:
        _LISTENER.reset(token)


def with_progress(files: Sequence[T]) -> Iterator[T]:
    """Iterate over the files and report progress."""
    emit, next_word = _LISTENER.get(), monotonic() + PATIENCE
    for done, file in enumerate(files):
        if monotonic() >= next_word:
            emit(ImagesRead(done, len(files)))
            next_word = monotonic() + EVERY
        yield file
