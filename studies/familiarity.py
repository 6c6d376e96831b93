"""Which measure of familiarity, and which weights, make the best fusion? Compared on validation images.

    python studies/familiarity.py RUN [RUN ...] > familiarity.csv

Every RUN is a finished run folder of a method whose clients train, made with data.limit: the training images that the
limit left out are the validation images. No test image is read. One line per run and rule:

    score_c(x) = sum_k w_kc r_k(x)^q cos(z_k(x), A_kc)

w: how much a client counts (equal, its share of the data, its share of the class, or a square root of these; or its
share of the data for the classes that it holds);
r: how familiar the image is to client k; q: the exponent; A: one set of prototypes for all clients, or each its own.
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
from mooring.uploads import rebuild

MOST = 5000  # validation images, evenly over those left out
EXPONENTS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0)


@dataclass(frozen=True)
class Seen:
    """What one client makes of some images."""

    z: Tensor  # (N, d), unit
    norm: Tensor  # (N,), |f|
    logits: Tensor  # (N, C)


@dataclass(frozen=True)
class Measured:
    """One client: its prototypes, its label counts, its own images and the validation images."""

    prototypes: Tensor  # (C, d)
    counts: Tensor  # (C,)
    own: Seen
    asked: Seen


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
        network, shard = rebuild(upload, run.job.blueprint), site.shard()
        counts = torch.tensor(shard.label_counts()).float()
        clients.append(
            Measured(network.prototypes.detach(), counts, seen(network, shard.images), seen(network, validation.images))
        )
    return clients, validation.labels


def familiarity(kind: str, client: Measured) -> Tensor:
    """(N,), about 1 for images like the client's own."""
    own, asked = client.own, client.asked
    if kind == "norm":
        return asked.norm / own.norm.mean()
    if kind == "norm-and-cosine":
        return familiarity("norm", client) * familiarity("own-cosine", client)
    if kind == "energy":
        return (asked.logits.logsumexp(1) / own.logits.logsumexp(1).mean()).clamp(min=1e-6)
    held = F.normalize(client.prototypes)[client.counts > 0]
    if kind == "own-cosine":
        nearest = (asked.z @ held.T).amax(1).clamp(min=1e-6)
        return nearest / (own.z @ held.T).amax(1).mean()
    mean, deviation = own.z.mean(0), own.z.std(0, correction=0).clamp(min=1e-3)
    distance = ((asked.z - mean) / deviation).square().mean(1)
    typical = ((own.z - mean) / deviation).square().mean(1).mean()
    return (typical / distance).clamp(max=10)


FAMILIARITIES = ("norm", "energy", "own-cosine", "norm-and-cosine", "mahalanobis")


def client_weights(kind: str, counts: Tensor) -> Tensor:
    """(K, C)"""
    share = (counts.sum(1, keepdim=True) / counts.sum()).expand_as(counts)
    by_class = counts / counts.sum(0).clamp(min=1)
    return {
        "equal": torch.ones_like(counts),
        "share": share,
        "sqrt-share": share.sqrt(),
        "share-if-held": share * (counts > 0),
        "class-share": by_class,
        "sqrt-class-share": by_class.sqrt(),
    }[kind]


WEIGHTS = ("equal", "share", "sqrt-share", "share-if-held", "class-share", "sqrt-class-share")


def anchors(kind: str, clients: list[Measured], counts: Tensor) -> Tensor:
    """(K, C, d), unit"""
    unit = F.normalize(torch.stack([client.prototypes for client in clients]), dim=2)
    if kind == "own":
        return unit
    if kind == "mean":
        return F.normalize(unit.mean(0)).expand_as(unit)
    by_class = counts / counts.sum(0).clamp(min=1)
    return F.normalize(torch.einsum("kc,kcd->cd", by_class, unit)).expand_as(unit)


ANCHORS = ("mean", "by-class", "own")


def accuracies(run: FinishedRun) -> Iterator[tuple[str, str, float, str, float]]:
    clients, labels = measured(run)
    counts = torch.stack([client.counts for client in clients])
    r = {kind: torch.stack([familiarity(kind, client) for client in clients]) for kind in FAMILIARITIES}
    for prototypes in ANCHORS:
        common = anchors(prototypes, clients, counts)
        cosines = torch.stack([c.asked.z @ a.T for c, a in zip(clients, common, strict=True)])  # (K, N, C)
        for weights in WEIGHTS:
            weighed = cosines * client_weights(weights, counts)[:, None, :]
            for kind, q in product(FAMILIARITIES, EXPONENTS):
                if q == 0 and kind != FAMILIARITIES[0]:
                    continue
                scores = (weighed * r[kind].pow(q)[:, :, None]).sum(0)
                yield prototypes, weights, q, "none" if q == 0 else kind, accuracy(scores, labels)
    shares = counts.sum(1) / counts.sum()
    total = sum(s * c.asked.z * c.asked.norm[:, None] for s, c in zip(shares, clients, strict=True))
    raw = torch.stack([client.prototypes for client in clients]).mean(0)
    yield "published", "share", 1.0, "raw-norm", accuracy(total @ raw.T, labels)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    return (scores.argmax(1) == labels).float().mean().item()


def main() -> None:
    writer = csv.writer(sys.stdout)
    writer.writerow(["run", "prototypes", "weights", "exponent", "familiarity", "accuracy"])
    for folder in sys.argv[1:]:
        for *rule, value in accuracies(FinishedRun.open(Path(folder))):
            writer.writerow([folder, *rule, f"{value:.4f}"])
        sys.stdout.flush()


if __name__ == "__main__":
    main()
