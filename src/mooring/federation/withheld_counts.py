"""Jobs whose sites do not tell how many images they have: `mooring plan --withhold-counts`.

Such an upload holds no number of images, neither outside nor inside; no loss and no accuracy of its training (0.9375 is
15 of 16); and 0 where a batch norm has counted its batches (images / batch size, times epochs). Nobody can then weigh
sites by their images: a rule that would gives each the same weight, n_k = 1.

It takes a method whose sites send a network, or means. Counts themselves, and sums over images, which grow with their
number (the trace of the second moments of unit vectors is n), cannot be withheld, for they are what is computed with.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from mooring.errors import FederationError
from mooring.methods import METHODS
from mooring.types import Upload
from mooring.uploads import Encoder, Part, Prototypes
from mooring.uploads.classes import ClassMeans
from mooring.uploads.embeddings import EmbeddingMoments
from mooring.uploads.feature_norm import FeatureNorm

Counts = Literal["told", "withheld"]
UNCOUNTED: tuple[type[Part], ...] = (
    Encoder,
    Prototypes,
    ClassMeans,
    EmbeddingMoments,
    FeatureNorm,
)  # as large for any n
BATCHES = "num_batches_tracked"  # what torch calls the counter of a batch norm
WITHHELD, ALIKE = 0, 1  # images, as an upload says it, and as a rule sees it
WORDS = "counts withheld: no site says how many images it has, and none weighs more for having more"


def counting(parts: Iterable[Part]) -> list[str]:
    """Those of these parts that tell how many images are behind them."""
    return sorted(part.kind for part in parts if not isinstance(part, UNCOUNTED))


def reject_counting(parts: Iterable[Part], method: str) -> None:
    """Nothing is withheld that is computed with."""
    found = counting(parts)
    if found:
        all_ = (name for name, own in METHODS.items() if own.fusion and counting(own.fusion.needs))
        others = ", ".join(name for name in all_ if name != method)
        raise FederationError(
            f"--withhold-counts: {method} computes with them (it uploads {', '.join(found)}); so do {others}",
            "choose a method that sends a network, such as v7, or --secure-sum, which tells only the sum of all sites",
        )


def without_counts(upload: Upload) -> Upload:
    """What may leave the site."""
    counters = {name: tensor * 0 for name, tensor in upload.tensors.items() if name.rpartition(".")[2] == BATCHES}
    return replace(upload, samples=WITHHELD, tensors={**upload.tensors, **counters})
