"""A piece of work in a process of its own, with its peak memory."""

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
    context: Any = get_context(start)
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


@contextmanager
def memory_watched() -> Iterator[Callable[[], float]]:
    """The largest sum so far over this process and all below it, in MiB, what they share counted once."""
    largest, ended = [0.0], threading.Event()

    def watch() -> None:
        while not ended.wait(0.5):
            largest[0] = max(largest[0], sum(map(own_share, (os.getpid(), *below(os.getpid())))))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield lambda: largest[0]
    finally:
        ended.set()
        watcher.join()


def own_share(pid: int) -> float:
    """MiB of a process, what several share divided among them; 0 for one that has just ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB
