"""Long computations ask between two pieces of their work whether to stop, without knowing who decides."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_CHECK: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)


class StopRequested(Exception):  # noqa: N818
    """What was being computed is not wanted any more."""


@contextmanager
def stopping_if(asked: Callable[[], bool]) -> Iterator[None]:
    """Within the block, `check_stop` raises StopRequested once somebody has asked for it."""

    def check() -> None:
        if asked():
            raise StopRequested

    token = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(token)


def check_stop() -> None:
    _CHECK.get()()
