"""All benchmarks, and the page they are written to."""

import os
import platform
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from benchmarks import clients, fusions, naive, roofline, scaling, startup
from benchmarks.process import apart
from benchmarks.table import Say, Table
from mooring.store import environment

BENCHMARKS: dict[str, Callable[[Say], Table]] = {
    "roofline": roofline.measure,
    "scaling": scaling.measure,
    "clients": clients.measure,
    "fusions": fusions.measure,
    "startup": startup.measure,
    "naive": naive.measure,
}
PAGE = Path(__file__).parents[1] / "docs/performance.md"
INTRODUCTION = """# Performance

Written by `make bench`. Cores were shared: only ratios within one table mean something, and they were measured in turns
within one run. Goals are stated beside what was measured, met or not.
"""


def main(arguments: list[str]) -> None:
    names = [name for name in arguments if name != "--write"] or list(BENCHMARKS)
    began, load = monotonic(), os.getloadavg()[0]
    parts = [INTRODUCTION, machine(load)]
    for name in names:
        print(f"{name} ...", flush=True)
        table = apart(measured, name).value  # no benchmark inherits the memory or threads of another
        print(table.markdown(), end="\n\n", flush=True)
        parts.append(f"{table.markdown()}\n")
        if "--write" in arguments:
            PAGE.write_text("\n".join(parts), "utf-8")
    print(f"{(monotonic() - began) / 60:.1f} minutes", flush=True)


def measured(name: str) -> Table:
    began = monotonic()

    def say(line: str) -> None:
        print(f"  {monotonic() - began:5.0f} s  {line}", flush=True)

    return BENCHMARKS[name](say)


def machine(load: float) -> str:
    """Cores, processor and versions; nothing that names a host or a path."""
    described = environment()
    versions = ", ".join(f"{package} {number}" for package, number in dict(described["packages"]).items())  # type: ignore[call-overload]
    return (
        f"Machine: {described['cores']} cores, {processor()}, {described['system']} {described['machine']}; "
        f"load {load:.1f} before the first benchmark.\nVersions: Python {described['python']}, {versions}.\n"
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )
