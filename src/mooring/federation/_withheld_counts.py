"""Jobs whose sites do not say how many images they have: `mooring plan --withhold-counts`.

The manifest and the tensors of such an upload hold no number of images. It has no loss and no accuracy of the training
(0.9375 is 15 of 16), and batch norms report 0 batches (images / batch size, times epochs). Sites cannot be weighted by
their images: every rule uses n_k = 1.

The method must send a network or means. Counts, and sums over images, cannot be withheld because the fusion computes
with them: sums grow with the number of images (the trace of the second moments of unit vectors is n).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Literal

from mooring.errors import FederationError
from mooring.methods import METHODS
from mooring.types import Upload
from mooring.uploads import Part, reveals_count

Counts = Literal["told", "withheld"]
BATCHES = "num_batches_tracked"  # what torch calls the counter of a batch norm
WITHHELD, ALIKE = 0, 1  # images, as an upload says it, and as a rule sees it
WORDS = "counts withheld: no site says how many images it has, and none weighs more for having more"


def counting(parts: Iterable[Part]) -> list[str]:
    """The parts from which the number of images can be computed."""
    return sorted(part.kind for part in parts if reveals_count(part))


def reject_counting(parts: Iterable[Part], method: str) -> None:
    """Raise an error if the fusion needs counts or sums over images."""
    found = counting(parts)
    if found:
        all_ = (name for name, own in METHODS.items() if own.fusion and counting(own.fusion.needs))
        others = ", ".join(name for name in all_ if name != method)
        raise FederationError(
            f"--withhold-counts: {method} computes with them (it uploads {', '.join(found)}); so do {others}",
            "choose a method that sends a network, such as v7, or --secure-sum, which reveals only the sum",
        )


def without_counts(upload: Upload) -> Upload:
    """What may leave the site."""
    counters = {name: tensor * 0 for name, tensor in upload.tensors.items() if name.rpartition(".")[2] == BATCHES}
    return replace(upload, samples=WITHHELD, tensors={**upload.tensors, **counters})
