"""A piece of work in a process of its own, with its peak memory."""

import resource
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, Literal, NamedTuple

MB = 2**20


class Outcome(NamedTuple):
    value: Any
    peak: float  # MB, of the process itself
    growth: float  # MB, above what it held before the work began


def apart(work: Callable[..., Any], *arguments: object, start: Literal["spawn", "fork"] = "spawn") -> Outcome:
    """`spawn` begins with an empty process, `fork` with what this one holds; a failure there is a failure here."""
    context = get_context(start)
    here, there = context.Pipe()
    process = context.Process(target=_report, args=(there, work, arguments))
    process.start()
    there.close()
    try:
        outcome: Outcome = here.recv()
    except EOFError:
        raise RuntimeError(f"{work.__name__}{arguments} died; its traceback is above") from None
    finally:
        process.join()
    return outcome


def _report(pipe: Any, work: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    before = peak()
    value = work(*arguments)
    pipe.send(Outcome(value, peak(), peak() - before))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
