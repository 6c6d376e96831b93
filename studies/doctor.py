"""Ten runs that the doctor judges, and every remedy it may propose beside the runs that it is meant for.

    python studies/doctor.py train NAME...    these runs, three seeds each, fused by class-expert as well
    python studies/doctor.py write            docs/doctor.md from whatever is finished
    python studies/doctor.py                  everything

All of it lies below runs/doctor; what is finished is not repeated. Validation images decide, never test images.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, stdev

from mooring import fuse, load, run
from mooring.doctor import Diagnosis, examine, read_case
from mooring.fusion import ClassExpert
from mooring.record import RunFolder

SEEDS = (1, 2, 3)
RUNS = Path("runs/doctor")
PAGE = Path(__file__).parents[1] / "docs/doctor.md"
SETTINGS = ["training.rounds=10", "training.local_epochs=3", "data.validation=0.1", "engine.workers=1"]
BOUND = ["weight.guard.kind=bound", "weight.guard.maximum=8103"]
EXPERT = ClassExpert()

JUDGED: dict[str, tuple[list[str], str]] = {  # settings, and why the verdict is right
    "v4": (["method=v4"], "Nothing is aligned, so no lambda can be wrong; the fused accuracy ends near its peak."),
    "v7": (["method=v7"], "Lambda is 5 and fades: it cannot run away."),
    "v9": (["method=v9"], "Lambda follows from the labels and fades: it cannot run away."),
    "v10": (["method=v10"], ""),
    "v11-linear": (["method=v11-linear"], ""),
    "v12": (["method=v12"], ""),
    "v12-gamma": (["method=v12-gamma"], ""),
    "v12-bound": (["method=v12", *BOUND], ""),
    "closed-form": (["method=closed-form"], ""),
    "diverged": (["method=v7", "training.lr=10", "training.clip=null"], ""),
}
TRIED: dict[str, list[str]] = {  # what was proposed once, or might be
    "v12-data": ["method=v12", "weight.data=constant"],
    "v11-data": ["method=v11-linear", "weight.data=constant"],
    "diverged-slower": ["method=v7", "training.clip=null", "training.lr=0.05"],
}
INSTEAD = (  # settings that a run was made again with, the run, and the one that was made so
    ("`method=v9`", "v12", "v9"),
    ("`method=v9`", "v11-linear", "v9"),
    ("`method=v9`", "v12-gamma", "v9"),
    ("`method=v9`", "v12-bound", "v9"),
    ("`method=v4`", "v12", "v4"),
    ("`method=closed-form`", "v12", "closed-form"),
    ("`weight.data=constant`", "v12", "v12-data"),
    ("`weight.data=constant`", "v11-linear", "v11-data"),
    (f"`{' '.join(BOUND)}`", "v12", "v12-bound"),
    ("`training.lr=0.05`", "diverged", "diverged-slower"),
)


def folder_of(name: str, seed: int) -> Path:
    return RUNS / f"{name}-{seed}"


def train(name: str) -> None:
    words = JUDGED[name][0] if name in JUDGED else TRIED[name]
    for seed in SEEDS:
        folder = folder_of(name, seed)
        (experiment,) = load(overrides=[*SETTINGS, *words, f"seed={seed}", f"out={folder}"])
        run(experiment)
        if expert(folder) is None:
            list(fuse(folder, [EXPERT]))
        print(folder, flush=True)


def own(folder: Path) -> float | None:
    """Validation accuracy of the run as it was made."""
    return RunFolder(folder).result.validation_accuracy if RunFolder(folder).ended else None


def expert(folder: Path) -> float | None:
    """Validation accuracy of the same uploads under class-expert."""
    fusions = RunFolder(folder).fusions if RunFolder(folder).ended else ()
    return next((row.validation_accuracy for row in fusions if row.fusion == EXPERT.kind), None)


def of_seeds(name: str, measure: Callable[[Path], float | None]) -> dict[int, float]:
    values = {seed: measure(folder_of(name, seed)) for seed in SEEDS}
    return {seed: value for seed, value in values.items() if value is not None}


def spread(values: dict[int, float]) -> str:
    if len(values) < 2:
        return "-" if not values else f"{fmean(values.values()):.3f} (n = 1)"
    return f"{fmean(values.values()):.3f} ± {stdev(values.values()):.3f} (n = {len(values)})"


def verdicts() -> Iterator[str]:
    yield "| run | settings | validation accuracy | verdict | ill findings (seeds) | why that is right |"
    yield "|---|---|---|---|---|---|"
    for name, (words, why) in JUDGED.items():
        told = [examine(read_case(f)) for seed in SEEDS if RunFolder(f := folder_of(name, seed)).ended]
        ill = f"ill in {sum(one.ill for one in told)} of {len(told)}"
        accuracy = spread(of_seeds(name, own))
        yield f"| {name} | `{' '.join(words)}` | {accuracy} | {ill} | {counted(told)} | {why} |"


def counted(told: list[Diagnosis]) -> str:
    kinds = dict.fromkeys(finding.kind for one in told for finding in one.findings if finding.ill)
    found = {kind: sum((f := one.finding(kind)) is not None and f.ill for one in told) for kind in kinds}
    return ", ".join(f"{kind} ({count})" for kind, count in found.items()) or "-"


def remedies() -> Iterator[str]:
    yield "| tried | on | before | after | better in |"
    yield "|---|---|---|---|---|"
    for name in JUDGED:
        yield compared("`mooring fuse RUN --fusion class-expert`", name, of_seeds(name, own), of_seeds(name, expert))
    for words, ill, made in INSTEAD:
        yield compared(words, ill, of_seeds(ill, own), of_seeds(made, own))
        yield compared(f"{words}, both fused by class-expert", ill, of_seeds(ill, expert), of_seeds(made, expert))


def compared(words: str, name: str, before: dict[int, float], after: dict[int, float]) -> str:
    both = sorted(before.keys() & after.keys())
    better = sum(after[seed] > before[seed] for seed in both)
    return f"| {words} | {name} | {spread(before)} | {spread(after)} | {better} of {len(both)} seeds |"


def example() -> Iterator[str]:
    """What is printed on a screen of 80 columns."""
    words = [sys.executable, "-c", "from mooring.cli import main; main()", "doctor", str(folder_of("v12", 1))]
    told = subprocess.run(words, env={**os.environ, "COLUMNS": "80"}, capture_output=True, text=True, check=False)
    yield from told.stdout.splitlines()


def write() -> None:
    page = (Path(__file__).parent / "doctor.md").read_text("utf-8")
    for mark, lines in (("@EXAMPLE@", example()), ("@VERDICTS@", verdicts()), ("@REMEDIES@", remedies())):
        page = page.replace(mark, "\n".join(lines))
    PAGE.write_text(page, "utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    what, *names = sys.argv[1:] or ["all"]
    if what in ("train", "all"):
        for name in names or [*JUDGED, *TRIED]:
            train(name)
    if what in ("write", "all"):
        write()
