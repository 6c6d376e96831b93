"""All benchmarks, and the page they are written to."""

import compileall
import os
import platform
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic

from benchmarks import (
    clients,
    encoder,
    flower,
    folders,
    fusions,
    load,
    naive,
    roofline,
    scale,
    scaling,
    serving,
    spent,
    startup,
)
from benchmarks.process import apart
from benchmarks.table import Say, Table
from mooring import __file__ as package
from mooring.record import environment

BENCHMARKS: dict[str, Callable[[Say], Table]] = {
    "roofline": roofline.measure,
    "startup": startup.measure,
    "naive": naive.measure,
    "flower": flower.measure,
    "scaling": scaling.measure,
    "spent": spent.measure,
    "fusions": fusions.measure,
    "clients": clients.measure,
    "encoder": encoder.measure,
    "folders": folders.measure,
    "load": load.measure,
    "scale": scale.measure,
    "serving": serving.measure,
}
QUICK: dict[str, Callable[[Say], Table]] = {"flower": partial(flower.measure, work=flower.QUICK)}
PAGE = Path(__file__).parents[1] / "docs/performance.md"
INTRODUCTION = """# Performance

`make bench` writes this page; `python -m benchmarks NAME --write` measures one table again. Compare numbers within a
table only. "Load" is the load of the machine before and after.
"""


def main(arguments: list[str]) -> None:
    """Measure the benchmarks named, or all; with --write their sections of the page are replaced, the others stay.

    --quick tries those that can be made small: its figures mean nothing and are not written.
    """
    unknown = set(arguments) - {"--quick", "--write"} - BENCHMARKS.keys()
    if unknown:
        sys.exit(f"python -m benchmarks [{' '.join(BENCHMARKS)}] [--write | --quick]")
    quick = "--quick" in arguments
    compileall.compile_dir(Path(package).parent, quiet=1)  # as pip leaves a package, this one or somebody else's
    names = [name for name in arguments if not name.startswith("--")] or list(QUICK if quick else BENCHMARKS)
    began = monotonic()
    for name in names:
        print(f"{name} ...", flush=True)
        busy = os.getloadavg()[0]
        table: Table = apart(measured, name, quick).value  # no benchmark inherits the memory or threads of another
        text = f"{table.markdown()}\n\nLoad: {busy:.1f}, {os.getloadavg()[0]:.1f}."
        print(text, end="\n\n", flush=True)
        if "--write" in arguments and not quick:
            write(name, text)
    print(f"{(monotonic() - began) / 60:.1f} minutes", flush=True)


def write(name: str, text: str, page: Path = PAGE) -> None:
    """One section of the page, between marks that a reader does not see."""
    kept = sections(page.read_text("utf-8")) if page.exists() else {}
    kept[name] = text
    marked = [f"<!-- {name} -->\n{kept[name].strip()}\n" for name in BENCHMARKS if name in kept]
    page.write_text("\n".join([INTRODUCTION, machine(), *marked]), "utf-8")


def sections(text: str) -> dict[str, str]:
    _, *parts = re.split(r"<!-- (\w+) -->\n", text)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def measured(name: str, quick: bool) -> Table:
    began = monotonic()

    def say(line: str) -> None:
        print(f"  {monotonic() - began:5.0f} s  {line}", flush=True)

    return (QUICK if quick else BENCHMARKS)[name](say)


def machine() -> str:
    """Cores, processor and versions; nothing that names a host or a path."""
    described = environment()
    versions = ", ".join(f"{package} {number}" for package, number in described.packages.items())
    return (
        f"Machine: {described.cores} cores, {processor()}, {described.system} {described.machine}.\n"
        f"Versions: Python {described.python}, {versions}.\n"
    )


def processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown processor"
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )
