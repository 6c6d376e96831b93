"""A piece of work in a process of its own, with its peak memory."""

import os
import resource
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
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


def cpu_seconds() -> float:
    """Processor time of this process and of all below it, ended or not: unlike the clock, it does not count the work
    of others on the same cores."""
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks = sum(map(ticks_of, below(os.getpid())))
    return ticks / os.sysconf("SC_CLK_TCK") + sum(usage.ru_utime + usage.ru_stime for usage in ended)


def below(pid: int) -> list[int]:
    """Living processes that this one started, and that those started."""
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        own = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:
        return []
    return own + [process for child in own for process in below(child)]


def ticks_of(pid: int) -> int:
    """User and system time of a process, and of its children that have ended."""
    try:
        return sum(map(int, Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[11:15]))
    except OSError:
        return 0


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
