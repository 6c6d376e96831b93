"""Note 1 measured: V4 against the two-stage V6, and the note's explanations put to the test.

    python studies/note1.py digits          24 runs, a few minutes on two cores
    python studies/note1.py explanations    the evidence on digits
    python studies/note1.py cifar10 ROOT    24 runs on 2,000 CIFAR-10 images, about an hour; ROOT has the official files
    python studies/note1.py write           docs/studies/1-two-stage.md from whatever is finished

Finished runs below runs/note1 are not repeated.
"""

import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from mooring import load, run

ALPHAS = (0.5, 0.3, 0.1, 0.05)
SEEDS = (1, 2, 3)
ROUNDS = (0, 1, 2, 5)
RUNS = Path("runs/note1")
PAGE = Path(__file__).parents[1] / "docs/studies/1-two-stage.md"
COMMON = ["training.rounds=6", "training.local_epochs=5", "training.snapshots=[0, 1, 2, 5]", "data.public_ratio=0.1"]
CIFAR10 = ["data.source=cifar10", "data.limit=2000", "model.kind=resnet8", "training.batch_size=64"]
NOTE = {  # accuracy in per cent after rounds 0, 1, 2 and 5
    0.5: ((67.23, 76.70, 81.13, 86.79), (57.68, 71.27, 76.92, 84.45)),
    0.3: ((65.16, 74.79, 79.09, 85.62), (47.65, 60.79, 66.91, 75.96)),
    0.1: ((61.00, 71.24, 76.98, 83.52), (45.38, 53.19, 59.88, 70.01)),
    0.05: ((61.37, 72.25, 77.12, 83.46), (31.25, 38.67, 42.28, 50.13)),
}
VARIANTS = {  # explanations, at alpha 0.05 on the digits
    "v4": ["method=v4"],
    "v4, one epoch less": ["method=v4", "training.local_epochs=4"],
    "v6": ["method=v6", "weight.kind=probed"],
    "v6, alignment_epochs 2": ["method=v6", "alignment_epochs=2"],
    "v6, alignment_epochs 4": ["method=v6", "alignment_epochs=4"],
    "v6, stage 1 only": ["method=v6", "alignment_epochs=5"],
    "two-stage-aligned": ["method=two-stage-aligned", "weight.kind=probed"],
}


def result_of(name: str, overrides: list[str]) -> dict[str, Any]:
    (experiment,) = load(overrides=[*COMMON, *overrides, f"out={RUNS / name}"])
    result = run(experiment)
    print(f"{name}: {result['accuracy']:.3f}", flush=True)
    return result


def compare(source: str, extra: list[str]) -> None:
    """V4 and V6 at every alpha, all alphas of a seed before the next seed."""
    for seed in SEEDS:
        for alpha in ALPHAS:
            for method in ("v4", "v6"):
                settings = [f"method={method}", f"partition.alpha={alpha}", f"seed={seed}", *extra]
                result_of(f"{source}/{method}-{alpha}-{seed}", settings)


def explain() -> None:
    for seed in SEEDS:
        for name, overrides in VARIANTS.items():
            result_of(f"explanations/{slug(name)}-{seed}", [*overrides, f"seed={seed}"])


def slug(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "_")


def finished(pattern: str) -> list[tuple[Path, dict[str, Any]]]:
    """What is there of three seeds."""
    found = []
    for seed in SEEDS:
        folder = RUNS / pattern.format(seed=seed)
        if (folder / "result.json").exists():
            found.append((folder, json.loads((folder / "result.json").read_text())))
    return found


def spread(values: list[float]) -> str:
    if not values:
        return "-"
    return f"{fmean(values):.3f}" + (f" ± {stdev(values):.3f}" if len(values) > 1 else "")


def at_round(results: list[tuple[Path, dict[str, Any]]], round_: int) -> list[float]:
    return [row["accuracy"] for _, result in results for row in result["rounds"] if row["round"] == round_]


def comparison(source: str, title: str) -> Iterator[str]:
    yield f"### {title}\n"
    if not any(finished(f"{source}/{method}-{alpha}-{{seed}}") for method in ("v4", "v6") for alpha in ALPHAS):
        yield "Not measured yet.\n"
        return
    yield "| alpha | n | method | " + " | ".join(f"round {r}" for r in ROUNDS) + " | note (CIFAR-10, ResNet-18) |"
    yield "|---|---|---|" + "---|" * (len(ROUNDS) + 1)
    for alpha in ALPHAS:
        for column, method in enumerate(("v4", "v6")):
            results = finished(f"{source}/{method}-{alpha}-{{seed}}")
            cells = [spread(at_round(results, r)) for r in ROUNDS]
            printed = " / ".join(f"{value:.2f}" for value in NOTE[alpha][column])
            yield f"| {alpha} | {len(results)} | {method} | " + " | ".join(cells) + f" | {printed} |"
    yield ""


def gaps(source: str) -> dict[float, list[float]]:
    """V6 - V4 after the last round, seed by seed."""
    found: dict[float, list[float]] = {}
    for alpha in ALPHAS:
        v4, v6 = (dict_of(finished(f"{source}/{m}-{alpha}-{{seed}}")) for m in ("v4", "v6"))
        found[alpha] = [v6[seed] - v4[seed] for seed in v4.keys() & v6.keys()]
    return found


def dict_of(results: list[tuple[Path, dict[str, Any]]]) -> dict[int, float]:
    return {result["seeds"]["training"]: result["accuracy"] for _, result in results}


def verdicts(source: str, title: str) -> Iterator[str]:
    """The note's two claims about accuracy, decided by the paired differences."""
    found = {alpha: values for alpha, values in gaps(source).items() if values}
    if len(found) < len(ALPHAS):
        yield f"- {title}: not all runs are finished."
        return
    told = ", ".join(f"{alpha}: {spread(values)}" for alpha, values in found.items())
    means = [fmean(found[alpha]) for alpha in ALPHAS]
    below = all(mean < 0 for mean in means)
    clear = all(max(found[alpha]) < 0 for alpha in ALPHAS)
    grows = all(later < earlier for earlier, later in pairwise(means))
    yield f"- {title}, V6 - V4 after the last round, paired by seed: {told}."
    word = "confirmed" if clear else "confirmed in the mean, not in every seed" if below else "not confirmed"
    yield f"  - V6 below V4 at every alpha: **{word}**."
    yield f"  - The gap grows as alpha falls: **{'confirmed' if grows else 'not confirmed'}**."


def events_of(folder: Path, name: str) -> list[dict[str, Any]]:
    lines = (folder / "events.jsonl").read_text().splitlines()
    return [event for event in map(json.loads, lines) if event["event"] == name]


def explanations() -> Iterator[str]:
    yield "| variant (digits, alpha 0.05) | n | accuracy after round 5 | clients alone |"
    yield "|---|---|---|---|"
    for name in VARIANTS:
        results = finished(f"explanations/{slug(name)}-{{seed}}")
        own = [fmean(c["accuracy"] for c in result["rounds"][-1]["clients"]) for _, result in results]
        yield f"| {name} | {len(results)} | {spread([r['accuracy'] for _, r in results])} | {spread(own)} |"
    yield ""
    yield from evidence()


def evidence() -> Iterator[str]:
    """Gradient conflict, and the bank loss before and after the switch."""
    for name in ("v6", "two-stage-aligned"):
        results = finished(f"explanations/{name}-{{seed}}")
        cosines = [
            e["gradient_cosine"] for folder, _ in results for e in events_of(folder, "round") if "gradient_cosine" in e
        ]
        if cosines:
            below = sum(value < 0 for value in cosines) / len(cosines)
            yield (
                f"- Gradient conflict, `{name}`: cosine of task and contrast at the embedding {spread(cosines)} over "
                f"{len(cosines)} client rounds; negative in {below:.0%}."
            )
    for folder, _ in finished("explanations/v6-{seed}")[:1]:
        yield from switch(folder)


def switch(folder: Path) -> Iterator[str]:
    """Mean bank loss over clients by epoch: in stage 1 it is the only loss, afterwards one of several."""
    epochs: dict[tuple[int, int], list[float]] = {}
    for event in events_of(folder, "epoch"):
        loss = event.get("bank-contrast", event.get("align_loss"))
        epochs.setdefault((event["round"], event["epoch"]), []).append(loss)
    yield "- Bank loss by epoch (mean over clients, seed 1; the first epoch of every round is stage 1):"
    for round_ in sorted({r for r, _ in epochs}):
        row = [f"{fmean(epochs[r, e]):.3f}" for r, e in sorted(epochs) if r == round_]
        yield f"  round {round_}: {', '.join(row)}"


def write() -> None:
    head = (Path(__file__).parent / "note1.md").read_text()
    parts = {
        "DIGITS": "\n".join(comparison("digits", "Digits, digits net")),
        "CIFAR10": "\n".join(comparison("cifar10", "CIFAR-10, 2,000 images, ResNet-8")),
        "VERDICTS": "\n".join([*verdicts("digits", "Digits"), *verdicts("cifar10", "CIFAR-10")]),
        "EXPLANATIONS": "\n".join(explanations()),
    }
    for name, text in parts.items():
        head = head.replace(f"@{name}@", text)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(head)
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["digits"]:
            compare("digits", [])
        case ["cifar10", root]:
            compare("cifar10", [*CIFAR10, f"data.root={root}"])
        case ["explanations"]:
            explain()
        case ["write"]:
            write()
        case _:
            sys.exit(__doc__)
