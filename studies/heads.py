"""Heads from the same sums, on images set aside of the training images; test images are never read.

    python studies/heads.py DATA[:ROOT] IMAGES MAP [DATA IMAGES MAP ...]

Data, images and maps are those of studies/feature_maps.py, which keeps the features. A fifth of the images, 2,000 at
most, is looked at, and the others are summed. A row is one set: the accuracy of each head that `mooring fuse` compares
with its expected accuracy and seconds, FedCOF's own form (columns of unit norm, no intercept, the strength of
`within-class (equal)`), and the choice of solver=auto.
"""

import sys
from time import monotonic

import torch
import torch.nn.functional as F
from torch import Tensor

from feature_maps import features
from mooring.fusion import HEADS, gaussian_scores, standardise_moments
from mooring.fusion._solvers import Standardised
from mooring.fusion._within_class import WithinClassRidge, solve
from mooring.uploads import SummedMoments

LOOKED_AT = 2000


def row(data: str, images: int, word: str) -> None:
    x, y = features(data, images, word)
    looked = min(LOOKED_AT, len(y) // 5)
    one_hot, fitted = F.one_hot(y).double(), len(y) - looked
    first, seen = x[:fitted].double(), one_hot[:fitted]
    moments = standardise_moments(SummedMoments(seen.sum(0), seen.T @ first, first.T @ first))
    new, labels = x[fitted:].double(), y[fitted:]
    cells, chosen = [], (-1.0, "")
    for solver in HEADS:
        fit, head = solve(solver, moments)
        right = accuracy(gaussian_scores(moments, fit)(new) + moments.shares.log(), labels)
        cells.append(f"{right:.4f} ({head.expected_accuracy:.3f}, {head.seconds:.0f} s)")
        chosen = max(chosen, (head.expected_accuracy, head.cells["head"]), key=lambda pair: pair[0])
        if isinstance(solver, WithinClassRidge) and solver.towards == "equal":
            unit = unit_columns(moments, fit.solver.strength)
            own_form = accuracy((new - moments.centre) * moments.inverse @ unit, labels)
    print(f"| {data}, {word} | {fitted:,} | {' | '.join(cells)} | {own_form:.4f} | {chosen[1]} |", flush=True)


def unit_columns(moments: Standardised, strength: float) -> Tensor:
    """W = (S + strength I)^-1 m', columns of unit norm: FedCOF's own form, for standardised features."""
    penalty = strength * torch.eye(len(moments.centre), dtype=torch.float64)
    return F.normalize(torch.linalg.solve(moments.within + penalty, moments.means.T), dim=0)


def accuracy(scores: Tensor, labels: Tensor) -> float:
    return float((scores.argmax(1) == labels).double().mean())


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) % 3 != 1:
        sys.exit(__doc__)
    began = monotonic()
    print("| set, features | images | ridge | within-class (equal) | within-class (own) | FedCOF's form | auto |")
    print("|---" * 7 + "|")
    for data, images, word in zip(*(sys.argv[start::3] for start in (1, 2, 3)), strict=True):
        row(data, int(images), word)
    print(f"{monotonic() - began:.0f} seconds", file=sys.stderr)
