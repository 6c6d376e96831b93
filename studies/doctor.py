"""Ten runs that the doctor judges, and every remedy it may propose beside the runs that it is meant for.

    python studies/doctor.py train NAME...    these runs, three seeds each, fused by class-expert as well
    python studies/doctor.py write            studies/reports/doctor.md from whatever is finished
    python studies/doctor.py                  everything

All of it lies below runs/doctor; what is finished is not repeated. Validation images decide, never test images.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import fmean, stdev

from mooring import fuse, load, run_experiment
from mooring.doctor import Diagnosis, examine, read_case
from mooring.fusion import ClassExpert
from mooring.record import RunFolder

SEEDS = (1, 2, 3)
RUNS = Path("runs/doctor")
PAGE = Path(__file__).parent / "reports/doctor.md"
SETTINGS = ["training.rounds=10", "training.local_epochs=3", "data.validation=0.1", "engine.workers=1"]
BOUND = ["weight.guard.kind=bound", "weight.guard.maximum=8103"]
EXPERT = ClassExpert()
Measure = Callable[[Path], float]
Pair = tuple[float, float]  # before and after

JUDGED: dict[str, tuple[list[str], str]] = {  # settings, and why the verdict is right
    "v4": (
        ["method=v4"],
        "No lambda, so none can be wrong, and no fused accuracy ends 30 % below its peak. It is told that "
        "over half of the averaged prototypes were never trained, and nothing is proposed: another fusion "
        "helped in one seed of three.",
    ),
    "v7": (
        ["method=v7"],
        "Lambda is 5 and fades: it cannot run away, and no fused accuracy ends 30 % below its peak (26 % in seed 3).",
    ),
    "v9": (
        ["method=v9"],
        "Lambda follows from the labels and fades; as for v7.",
    ),
    "v10": (
        ["method=v10"],
        "The learned lambda follows L_b/L_a, which nothing bounds: in seeds 2 and 3 one client passes a "
        "hundred and ends at 6.9e3 and 1.2e6. In seed 1 one crosses in the last round only, which proves "
        "nothing. The fused accuracy held, and it says so. Unstable once, by the limit for joint gradients "
        "(2.0e5 there, not 1.2e4).",
    ),
    "v11-linear": (
        ["method=v11-linear"],
        "Four or five clients run away in every seed, to raw lambdas of up to 2.5e6, and the schedule changes "
        "nothing of it; in two seeds the fused accuracy collapses.",
    ),
    "v12": (
        ["method=v12"],
        "Four or five clients run away in every seed, two or three of them beyond what SGD can follow; in "
        "seed 1 the fused accuracy falls from 54 % to 23 %, in the others it ends at 52 % and 54 %, and it "
        "says so.",
    ),
    "v12-gamma": (
        ["method=v12-gamma"],
        "Bounded and not healthy: raw lambdas of 3e3 to 5e3, hundreds of times where they began, held there "
        "by the guard alone. Both are told; before, the cap silenced the runaway.",
    ),
    "v12-bound": (
        ["method=v12", *BOUND],
        "The weights feel 8103 at most, and behind that raw lambda goes on to 1e8. The doctor once proposed "
        "this bound and called such a run healthy; it is no better than V12 (last table).",
    ),
    "closed-form": (
        ["method=closed-form"],
        "Lambda is bounded by construction, so that its cap is a note. In seed 1 the fused accuracy falls "
        "from 60 % to 36 %, which is ill whatever lambda did; in seed 2 from 56 % to 40 %, just short of the "
        "30 % that count.",
    ),
    "diverged": (
        ["method=v7", "training.lr=10", "training.clip=null"],
        "At this rate nothing is learned: a predictor at chance is ill whatever lambda did.",
    ),
}
TRIED: dict[str, list[str]] = {  # what was proposed once, or might be
    "v12-data": ["method=v12", "weight.data=constant"],
    "v11-data": ["method=v11-linear", "weight.data=constant"],
    "diverged-slower": ["method=v7", "training.clip=null", "training.lr=0.05"],
}
LEARNED = ("v10", "v11-linear", "v12", "v12-gamma", "v12-bound", "closed-form")


def folder_of(name: str, seed: int) -> Path:
    return RUNS / f"{name}-{seed}"


def train(name: str) -> None:
    words = JUDGED[name][0] if name in JUDGED else TRIED[name]
    for seed in SEEDS:
        folder = folder_of(name, seed)
        (experiment,) = load(overrides=[*SETTINGS, *words, f"seed={seed}", f"out={folder}"])
        run_experiment(experiment)
        list(fuse(folder, [EXPERT]))
        print(folder, flush=True)


def own(folder: Path) -> float:
    """Validation accuracy of the run as it was made."""
    return RunFolder(folder).result.validation_accuracy or 0.0


def expert(folder: Path) -> float:
    """Validation accuracy of the same uploads under class-expert."""
    found = (row.validation_accuracy for row in RunFolder(folder).fusions if row.fusion == EXPERT.kind)
    return next(found, None) or 0.0


def spread(values: list[float]) -> str:
    if not values:
        return "-"
    about = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    return f"{fmean(values):.3f}{about} (n = {len(values)})"


def finished(name: str) -> list[Path]:
    return [folder for seed in SEEDS if RunFolder(folder := folder_of(name, seed)).ended]


def verdicts() -> Iterator[str]:
    yield "| run | settings | validation accuracy | verdict | ill findings (seeds) | why that is right |"
    yield "|---|---|---|---|---|---|"
    for name, (words, why) in JUDGED.items():
        told = [examine(read_case(folder)) for folder in finished(name)]
        ill = f"ill in {sum(one.ill for one in told)} of {len(told)}"
        accuracy = spread([own(folder) for folder in finished(name)])
        yield f"| {name} | `{' '.join(words)}` | {accuracy} | {ill} | {counted(told)} | {why} |"


def counted(told: list[Diagnosis]) -> str:
    kinds = dict.fromkeys(finding.kind for one in told for finding in one.findings if finding.ill)
    found = {kind: sum((f := one.finding(kind)) is not None and f.ill for one in told) for kind in kinds}
    return ", ".join(f"{kind} ({count})" for kind, count in found.items()) or "-"


def remedies() -> Iterator[str]:
    yield "| tried | on | before | after | better in | proposed then |"
    yield "|---|---|---|---|---|---|"
    kinds: dict[str, list[Path]] = {"had collapsed": [], "moored, nothing ill": [], "ill, not collapsed": [], "v4": []}
    for folder in (folder for name in JUDGED for folder in finished(name)):
        told = examine(read_case(folder))
        moored = "v4" if told.method == "v4" else "moored, nothing ill"
        kind = "had collapsed" if told.finding("collapsed") else "ill, not collapsed" if told.ill else moored
        kinds[kind].append(folder)
    for (kind, folders), proposed in zip(kinds.items(), ("yes", "yes", "no", "no"), strict=True):
        pairs = [(own(folder), expert(folder)) for folder in folders]
        yield compared("`mooring fuse RUN --fusion class-expert`", kind, pairs, proposed)
    for name in LEARNED:
        yield compared("`method=v9 fusion=class-expert`", name, against(name, own, "v9", expert), "yes")
    for name in LEARNED:
        words, proposed = "`method=v9`, both fused by class-expert", "no" if name == "closed-form" else "if fused so"
        yield compared(words, name, against(name, expert, "v9", expert), proposed)
    for words, ill, made, proposed in (
        ("`method=v9`", "v12", "v9", "no"),
        ("`method=v4`", "v12", "v4", "no"),
        ("`method=closed-form`", "v12", "closed-form", "no"),
        (f"`{' '.join(BOUND)}`", "v12", "v12-bound", "no"),
        ("`weight.data=constant`", "v12", "v12-data", "no"),
        ("`weight.data=constant`", "v11-linear", "v11-data", "no"),
        ("`training.lr=0.05`", "diverged", "diverged-slower", "no"),
    ):
        yield compared(words, ill, against(ill, own, made, own), proposed)


def against(ill: str, before: Measure, made: str, after: Measure) -> list[Pair]:
    both = [(folder_of(ill, seed), folder_of(made, seed)) for seed in SEEDS]
    return [(before(a), after(b)) for a, b in both if RunFolder(a).ended and RunFolder(b).ended]


def compared(words: str, on: str, pairs: list[Pair], proposed: str) -> str:
    before, after = [b for b, _ in pairs], [a for _, a in pairs]
    better = sum(a > b for b, a in pairs)
    return f"| {words} | {on} | {spread(before)} | {spread(after)} | {better} of {len(pairs)} | {proposed} |"


def write() -> None:
    page = (Path(__file__).parent / "doctor.md").read_text("utf-8")
    for mark, lines in (("@VERDICTS@", verdicts()), ("@REMEDIES@", remedies())):
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
