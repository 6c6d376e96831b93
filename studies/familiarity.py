"""Which measure of familiarity, and which votes, make the best fusion? Compared on validation images.

    python studies/familiarity.py rules RUN... > familiarity.csv    many rules
    python studies/familiarity.py steps RUN...                      from the published average to `familiarity`

Every RUN is a finished run folder of a method whose clients train, made with data.limit: the training images that the
limit left out are the validation images. No test image is read. `rules` writes one line per run and rule:

    score_c(x) = sum_k w_k r_k(x)^q v_kc(x)

w: how much a client counts (equal, its share of the data, the square root of it);
r: how familiar the image is to client k, about 1 for images like its own; q: the exponent;
v: the vote of client k for class c, 0 for classes that it does not hold: the cosine to the prototype of the class, or
the softmax of 5, 10 or 20 times these cosines over its classes. Prototypes are the unit mean of all clients' unit
prototypes. The last lines of a run are the published average and the published ensemble of outputs.
"""

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data import ImageSet, batches
from mooring.execution import FinishedRun
from mooring.models import Network
from mooring.uploads import network_of_upload

MOST = 5000  # validation images, evenly over those left out
EXPONENTS = (1.0, 1.5, 2.0, 2.5, 3.0)
SMALLEST = 1e-6


@dataclass(frozen=True)
class Seen:
    """The output of one client's network for some images."""

    z: Tensor  # (N, d), unit
    norm: Tensor  # (N,), |f|
    logits: Tensor  # (N, C)


@dataclass(frozen=True)
class Measured:
    """One client: its unit prototypes, its label counts, its own images and the validation images."""

    prototypes: Tensor  # (C, d), as trained
    counts: Tensor  # (C,)
    own: Seen
    asked: Seen

    @property
    def held(self) -> Tensor:
        return self.counts > 0


def seen(network: Network, images: Tensor) -> Seen:
    with torch.no_grad():
        f = torch.cat([network.embed(batch) for batch in batches(images, 512)])
        view = network.view(f)
    return Seen(view.features, f.norm(dim=1), view.logits)


def measured(run: FinishedRun) -> tuple[list[Measured], Tensor]:
    """Every client, and the labels of the validation images."""
    federation = run.federation("familiarity is measured on them")
    everything = run.experiment.data.train()
    assert federation.chosen is not None
    left = np.setdiff1d(np.arange(len(everything)), federation.chosen)
    left = left[:: max(1, len(left) // MOST)]
    validation: ImageSet = everything.select(torch.from_numpy(left))
    clients = []
    for upload, site in zip(run.uploads(run.chosen_round(None)), federation.sites(), strict=True):
        assert upload.client == site.number
        network, shard = network_of_upload(upload, run.job.blueprint), site.shard()
        counts = torch.tensor(shard.label_counts()).float()
        clients.append(
            Measured(network.prototypes.detach(), counts, seen(network, shard.images), seen(network, validation.images))
        )
    return clients, validation.labels


def strength(kind: str, client: Measured, seen: Seen) -> Tensor:
    """(N,), large for familiar images."""
    nearest = (seen.z @ F.normalize(client.prototypes)[client.held].T).amax(1)
    return {
        "norm": seen.norm,
        "cosine": nearest,
        "projection": seen.norm * nearest,  # max over own classes of <f, P_c>
        "energy": seen.logits[:, client.held].logsumexp(1),
    }[kind]


STRENGTHS = ("norm", "cosine", "projection", "energy")


def familiarity(kind: str, client: Measured) -> Tensor:
    """r, (N,): relative to the mean over the client's own images."""
    own = strength(kind, client, client.own).mean().clamp(min=SMALLEST)
    return strength(kind, client, client.asked).clamp(min=SMALLEST) / own


def vote(kind: str, client: Measured, anchors: Tensor) -> Tensor:
    """v, (N, C)"""
    cosines = client.asked.z @ anchors.T
    if kind == "cosine":
        return cosines * client.held
    sharpness = float(kind.removeprefix("softmax-"))
    return (sharpness * cosines).masked_fill(~client.held, -torch.inf).softmax(1)


VOTES = ("cosine", "softmax-5", "softmax-10", "softmax-20")
WEIGHTS = {"share": lambda share: share, "sqrt-share": torch.sqrt, "equal": torch.ones_like}


def accuracies(run: FinishedRun) -> Iterator[tuple[str, str, str, float, float]]:
    """Weights, votes, familiarity, exponent and the accuracy that they reach."""
    clients, labels = measured(run)
    counts = torch.stack([client.counts for client in clients])
    share = counts.sum(1) / counts.sum()
    raw = torch.stack([client.prototypes for client in clients])
    anchors = F.normalize(F.normalize(raw, dim=2).mean(0))
    votes = {kind: torch.stack([vote(kind, client, anchors) for client in clients]) for kind in VOTES}
    r = {kind: torch.stack([familiarity(kind, client) for client in clients]) for kind in STRENGTHS}
    rules = [("none", 0.0), *product(STRENGTHS, EXPONENTS)]
    for (name, weights), kind, (measure, q) in product(WEIGHTS.items(), VOTES, rules):
        w = weights(share)[:, None] * (r[measure] ** q if q else 1.0)  # (K, N)
        yield name, kind, measure, q, accuracy((w[:, :, None] * votes[kind]).sum(0), labels)
    total = sum(s * c.asked.z * c.asked.norm[:, None] for s, c in zip(share, clients, strict=True))
    yield "share", "published average", "raw-norm", 1.0, accuracy(total @ raw.mean(0).T, labels)
    outputs = sum(s * c.asked.logits.softmax(1) for s, c in zip(share, clients, strict=True))
    yield "share", "published outputs", "none", 0.0, accuracy(outputs, labels)


def steps(run: FinishedRun) -> tuple[dict[str, float], list[float]]:
    """Accuracy from the published average to `familiarity`, one change at a time; and the mean raw norm by client."""
    clients, labels = measured(run)
    counts = torch.stack([client.counts for client in clients])
    share = (counts.sum(1) / counts.sum())[:, None, None]  # (K, 1, 1)
    raw = torch.stack([client.prototypes for client in clients])
    anchors = F.normalize(F.normalize(raw, dim=2).mean(0))
    f = torch.stack([client.asked.z * client.asked.norm[:, None] for client in clients])  # (K, N, d)
    cosines = F.normalize(f, dim=2) @ anchors.T
    held = (counts > 0)[:, None, :]  # (K, 1, C)
    norm, projection = (
        torch.stack([familiarity(kind, client) for client in clients])[:, :, None] for kind in ("norm", "projection")
    )
    votes = torch.stack([vote("softmax-10", client, anchors) for client in clients])
    scores = {
        "published": (share * f).sum(0) @ raw.mean(0).T,
        "unit prototypes": (share * f).sum(0) @ anchors.T,
        "norms relative to own images": (share * norm * cosines).sum(0),
        "own classes only": (share * norm * cosines * held).sum(0),
        "projection squared": (share * projection**2 * cosines * held).sum(0),
        "softmax votes": (share * projection**2 * votes).sum(0),
        "votes without familiarity": (share * votes).sum(0),
    }
    return {name: accuracy(s, labels) for name, s in scores.items()}, [c.own.norm.mean().item() for c in clients]


def accuracy(scores: Tensor, labels: Tensor) -> float:
    return (scores.argmax(1) == labels).float().mean().item()


def write_rules(folders: list[str]) -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(["run", "weights", "votes", "familiarity", "exponent", "accuracy"])
    for folder in folders:
        for *rule, value in accuracies(FinishedRun.open(Path(folder))):
            writer.writerow([folder, *rule, f"{value:.4f}"])
        sys.stdout.flush()


def write_steps(folders: list[str]) -> None:
    """A markdown table with a row per run."""
    for number, folder in enumerate(folders):
        found, norms = steps(FinishedRun.open(Path(folder)))
        if number == 0:
            print("| run | " + " | ".join(found) + " | mean raw norm by client |\n" + "|---" * (len(found) + 2) + "|")
        cells = [f"{value:.3f}" for value in found.values()]
        norms_text = ", ".join(f"{norm:.1f}" for norm in norms)
        print(f"| {Path(folder).name} | {' | '.join(cells)} | {norms_text} |", flush=True)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["rules", *folders] if folders:
            write_rules(folders)
        case ["steps", *folders] if folders:
            write_steps(folders)
        case _:
            sys.exit(__doc__)
