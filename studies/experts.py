"""Experts under a judge: do clients that train add to what sums of fixed features know?

    python studies/experts.py [EPOCHS [SEED...]]

5,000 CIFAR-10 images, five clients, Dirichlet alpha 0.05. The judge is `mooring encoder=none`, from sums; the experts
are the clients of `fedsra`, trained for so many epochs (100). A tenth of the images is held back to choose by.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev

import torch
from torch import Tensor

from mooring import load, run_experiment
from mooring.data import ImageSet
from mooring.evaluate import batch_by_batch
from mooring.execution import FinishedRun
from mooring.fusion import Server
from mooring.fusion import fuse as fused
from mooring.uploads import network_of_upload

SEEDS = (1, 2, 3)
RUNS = Path("runs/experts")
DATA = ["data.source=cifar10", "data.limit=5000", "data.validation=0.1", "partition.clients=5", "partition.alpha=0.05"]
NETWORK = ["model.kind=resnet8", "model.width=0.5", "training.batch_size=64", "training.rounds=1"]
TEMPERATURES = (1.0, 2.0, 4.0, 8.0)
TRUST = tuple(step / 20 for step in range(21))


def finished(method: list[str], name: str, seed: int) -> FinishedRun:
    folder = RUNS / f"{name}-{seed}"
    (experiment,) = load(overrides=[*method, *DATA, f"seed={seed}", f"out={folder}"])
    print(f"{folder.name}: {run_experiment(experiment).accuracy:.3f}", flush=True)
    return FinishedRun.open(folder)


def compare(seed: int, epochs: int) -> tuple[float, float]:
    """On the test images: the judge alone, and with the experts as validation images would have them."""
    judge = finished(["method=mooring", "encoder=none"], "judge", seed)
    trained = finished(["method=fedsra", *NETWORK, f"training.local_epochs={epochs}"], f"fedsra-{epochs}", seed)
    federation = judge.federation("the images to choose by were taken from them")
    validation, test = federation.validation, judge.experiment.data.test()
    assert validation is not None
    rule = judge.experiment.method.fusion
    assert rule is not None
    predictor = fused(rule, judge.uploads(0), Server(judge.job.blueprint, seed, validation=validation))
    networks = [network_of_upload(upload, trained.job.blueprint).eval() for upload in trained.uploads(0)]
    counts = [torch.tensor(site.shard().label_counts()) for site in federation.sites()]
    known = {}
    for part, images in (("validation", validation), ("test", test)):
        judged = scores(predictor, images).log_softmax(1)
        known[part] = judged, [scores(lambda x, own=own: own(x).logits, images) for own in networks], images.labels
    ways = [(trust, temperature) for trust in TRUST for temperature in TEMPERATURES]
    best = max(ways, key=lambda way: accuracy(*known["validation"], counts, *way))
    alone, together = (accuracy(*known["test"], counts, *way) for way in ((0.0, 1.0), best))
    print(f"seed {seed}: judge {alone:.4f}, with experts {together:.4f} (trust {best[0]}, temperature {best[1]})")
    return alone, together


def scores(predictor: Callable[[Tensor], Tensor], images: ImageSet) -> Tensor:
    return torch.cat(batch_by_batch(predictor, images.images)).double()


def accuracy(
    judged: Tensor, logits: list[Tensor], labels: Tensor, counts: list[Tensor], trust: float, temperature: float
) -> float:
    """log p = (1 - w) log p_J + w sum_k n_k/n log q_k,  q_k(c) = p_J(C_k) p_k(c | C_k) for the classes C_k of client k,
    p_J(c) for all others: an expert speaks of its own classes only."""
    total = float(torch.stack(counts).sum())
    mixed = (1 - trust) * judged
    for own, count in zip(logits, counts, strict=True):
        seen = count > 0
        spoken = judged.clone()
        spoken[:, seen] = judged[:, seen].logsumexp(1, keepdim=True) + (own[:, seen] / temperature).log_softmax(1)
        mixed = mixed + trust * float(count.sum()) / total * spoken
    return float((mixed.argmax(1) == labels).double().mean())


if __name__ == "__main__":
    epochs, *seeds = map(int, sys.argv[1:] or ["100"])
    alone, together = zip(*(compare(seed, epochs) for seed in seeds or SEEDS), strict=True)
    gains = [b - a for a, b in zip(alone, together, strict=True)]
    for name, values in (("judge", alone), ("with experts", together), ("gain", gains)):
        spread = f" +- {stdev(values):.4f}" if len(values) > 1 else ""
        print(f"{name}: {fmean(values):.4f}{spread} (n = {len(values)})")
