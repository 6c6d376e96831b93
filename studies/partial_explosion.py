"""Does a large lambda harm the fused accuracy, or the disagreement between clients that it causes?

    python studies/partial_explosion.py course RUN...     norms of prototypes and fused accuracy, by snapshot
    python studies/partial_explosion.py rescale RUN...    the same uploads with short prototypes at some clients
    python studies/partial_explosion.py mix CALM WILD     some clients of CALM replaced by the same clients of WILD

RUN is the folder of a finished run under `feature-ensemble`. `course` reads its records, and ends with rank
correlations over the snapshots. `rescale` takes the uploads of the last round and gives all prototypes of the largest
clients norm 1, as an explosion does, and those of the others norm 8, as before an explosion: at none, one, ..., all of
the clients. Directions stay, and no client is trained again. What changes in the fused accuracy comes from the norms
alone.

`mix` takes two runs of the same partition and seed. In CALM no lambda runs away (V4), in WILD it does (V12). The
uploads of CALM are fused with some clients taken from WILD instead, as if exactly these clients had run away. Every
choice of clients is fused. One row per number of replaced clients: the mean over the choices, and the lowest and
highest.
"""

import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import fmean

import torch
import torch.nn.functional as F
from scipy.stats import spearmanr

from mooring.evaluate import evaluate
from mooring.execution import FinishedRun
from mooring.fusion import FUSIONS
from mooring.models import PROTOTYPES
from mooring.record import RunFolder
from mooring.types import Upload

RULES = ("feature-ensemble", "familiarity")
SHORT, LONG = 1.0, 8.0  # norms of prototypes after an explosion, and before it


def course(folder: Path) -> None:
    """One row per snapshot."""
    run = RunFolder(folder)
    print(f"\n{folder.name}\n\n| round | norms of the clients' prototypes | largest / smallest | lambda | accuracy |")
    print("|---|---|---|---|---|")
    accuracies, ratios, largest = list[float](), list[float](), list[float]()
    for number, row in ((row.round, row) for row in run.result.rounds):
        own = [client.rounds[number] for client in run.record.clients]
        norms = [fmean(client.prototype_norms or (0.0,)) for client in own]
        lambdas = ", ".join("-" if client.lambda_raw is None else f"{client.lambda_raw:.3g}" for client in own)
        shown = ", ".join(f"{norm:.1f}" for norm in norms)
        print(f"| {number} | {shown} | {max(norms) / min(norms):.1f} | {lambdas} | {row.accuracy:.3f} |")
        accuracies.append(row.accuracy)
        ratios.append(max(norms) / min(norms))
        largest.append(max(client.lambda_raw or 0.0 for client in own))
    of_ratio, of_lambda = (spearmanr(values, accuracies).statistic for values in (ratios, largest))
    found = f"with the ratio of norms {of_ratio:+.2f}, with the largest lambda {of_lambda:+.2f}"
    print(f"\nRank correlation of the accuracy {found} ({len(accuracies)} snapshots).")


def rescaled(upload: Upload, norm: float) -> Upload:
    prototypes = F.normalize(upload.tensors[PROTOTYPES]) * norm
    return replace(upload, tensors={**upload.tensors, PROTOTYPES: prototypes})


def rescale(folder: Path) -> None:
    """One row per number of clients whose prototypes are short."""
    run = FinishedRun.open(folder)
    uploads = run.uploads(run.chosen_round(None))
    order = sorted(range(len(uploads)), key=lambda k: -uploads[k].samples)
    print(f"\n{folder.name}\n\n| clients with short prototypes | {' | '.join(RULES)} |\n|---{'|---' * len(RULES)}|")
    for count in range(len(uploads) + 1):
        short = set(order[:count])
        mixed = [rescaled(upload, SHORT if k in short else LONG) for k, upload in enumerate(uploads)]
        found = [accuracy(run, kind, mixed) for kind in RULES]
        print(f"| {count} | {' | '.join(f'{value:.3f}' for value in found)} |", flush=True)


def mix(calm: Path, wild: Path) -> None:
    """One row per number of clients that come from the wild run."""
    run, other = FinishedRun.open(calm), FinishedRun.open(wild)
    if run.result.partition.sha256 != other.result.partition.sha256:
        sys.exit(f"{calm} and {wild} have different partitions; take two runs of the same data, alpha and seed")
    own, theirs = (one.uploads(one.chosen_round(None)) for one in (run, other))
    print(f"\n{calm.name} with clients of {wild.name}\n")
    print(f"| replaced | norms, largest / smallest | {' | '.join(RULES)} |")
    print(f"|---|---{'|---' * len(RULES)}|")
    for count in range(len(own) + 1):
        found: dict[str, list[float]] = {kind: [] for kind in RULES}
        ratios = []
        for chosen in combinations(range(len(own)), count):
            mixed = [theirs[k] if k in chosen else own[k] for k in range(len(own))]
            norms = [float(upload.tensors[PROTOTYPES].norm(dim=1).mean()) for upload in mixed]
            ratios.append(max(norms) / min(norms))
            for kind in RULES:
                found[kind].append(accuracy(run, kind, mixed))
        cells = [f"{fmean(values):.3f} ({min(values):.3f} to {max(values):.3f})" for values in found.values()]
        print(f"| {count} | {fmean(ratios):.1f} | {' | '.join(cells)} |", flush=True)


def accuracy(run: FinishedRun, kind: str, uploads: list[Upload]) -> float:
    fusion = FUSIONS[kind]()
    complete = [run.completed(upload, fusion.needs) for upload in uploads]
    with torch.inference_mode():
        return evaluate(fusion, complete, run.server(fusion), run.examiner).metrics.accuracy


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["course", *folders] if folders:
            for name in folders:
                course(Path(name))
        case ["rescale", *folders] if folders:
            for name in folders:
                rescale(Path(name))
        case ["mix", calm, wild]:
            mix(Path(calm), Path(wild))
        case _:
            sys.exit(__doc__)
