"""A piece of work in a process of its own, with its peak memory."""

import os
import resource
from collections.abc import Callable
from multiprocessing import active_children, get_context
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
    """Processor time of this process, of its children that have ended, and of those that still run: unlike the clock,
    it does not count the work of others on the same cores."""
    alive = [Path(f"/proc/{child.pid}/stat").read_text("utf-8") for child in active_children()]
    used = [line.rpartition(")")[2].split()[11:13] for line in alive]  # user and system time, in ticks
    ended = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ticks = sum(int(user) + int(system) for user, system in used)
    return ticks / os.sysconf("SC_CLK_TCK") + sum(usage.ru_utime + usage.ru_stime for usage in ended)


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
