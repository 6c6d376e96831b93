"""Can images be rebuilt from the sums of a site? The disclosure check before anything leaves it.

A Gram matrix G = sum x x' of n images has the rank r <= min(n, d), with d features: its effective degrees of freedom up
to rounding. If r < d, an attacker can look for pixels whose features lie in the span of G. With as many directions as
images, hardly any pixels but those of the site's images do, and images were rebuilt (`studies/reconstruct.py`,
docs/privacy.md). The more images share a direction, the less it says of one of them. Images were rebuilt only where
n = r; the check asks for n >= 1.25 r.

n counts different pictures: copies share their direction with each other only, and pictures that a site had many times
were rebuilt however many files there were. Near-copies add directions of noise, so neither n nor r shows them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import ceil

import torch
from torch import Tensor

from mooring.data import ImageSet, batches, joined, near_copies
from mooring.errors import FederationError
from mooring.events import Emit, ImagesRead
from mooring.federation._job_file import JobFile
from mooring.federation._privacy import figures_of
from mooring.federation._site_rules import SiteRules
from mooring.seeds import generator
from mooring.uploads import SECOND_MOMENTS, strip_settings_hash, triangle_size, unpack_triangle

RANK = 1e-6  # of the largest eigenvalue, below which a direction is rounding
IMAGES_PER_DIRECTION = 1.25
COMPARED = 2  # times as many images as are enough are searched for copies
BATCH = 256
REBUILT = "images can be rebuilt from them, as digits and photos were in tests (docs/privacy.md)"


@dataclass(frozen=True)
class GramSpan:
    """What a Gram matrix spans: its rank, the images behind it and their features."""

    rank: int
    features: int
    images: int  # different ones, where the images are at hand
    label: int | None = None  # the class, if the matrix is that of one

    @property
    def reveals_images(self) -> bool:
        return 0 < self.images < IMAGES_PER_DIRECTION * self.rank

    @property
    def enough(self) -> int:
        """So many images are enough, whatever they are."""
        return ceil(IMAGES_PER_DIRECTION * self.features)

    @property
    def sentence(self) -> str:
        rank = f"of rank {self.rank:,} from {self.images:,} images with {self.features:,} features each"
        return f"{rank}: {REBUILT if self.reveals_images else 'many images share every direction'}"


def gram_spans(tensors: Mapping[str, Tensor]) -> list[GramSpan]:
    """The span of every Gram matrix: one for all images, or one for each class that has some."""
    found = []
    for second, features, images, label in gram_matrices(tensors):
        if images and torch.isfinite(second).all():
            values = torch.linalg.eigvalsh(unpack_triangle(second.double(), features))
            rank = int((values > RANK * values[-1].clamp(min=torch.finfo(values.dtype).tiny)).sum())
            found.append(GramSpan(rank, features, images, label))
    return found


def most_revealing(spans: list[GramSpan]) -> GramSpan | None:
    """The one with the fewest images for each direction."""
    return min(spans, key=lambda span: span.images / max(1, span.rank), default=None)


def gram_matrices(tensors: Mapping[str, Tensor]) -> Iterator[tuple[Tensor, int, int, int | None]]:
    """Second moments, the number of their features and of their images, and their class if they are of one."""
    for name, second in tensors.items():
        own = name.partition(".")[0]
        sums, counts = tensors.get(f"{own}.sums"), tensors.get(f"{own}.counts")
        if strip_settings_hash(name) != SECOND_MOMENTS or sums is None or counts is None or sums.dim() != 2:
            continue
        features = sums.shape[1]
        if second.shape == (triangle_size(features),):
            yield second, features, int(counts.sum()), None
        elif second.shape == (len(counts), triangle_size(features)):
            for label, (one, count) in enumerate(zip(second, counts, strict=True)):
                yield one, features, int(count), label


def features_of(job: JobFile) -> int | None:
    """Features of the Gram matrices that a job asks for, if it asks for some without noise."""
    if figures_of(job.work):
        return None
    own = [name.partition(".")[0] for name in job.wire if strip_settings_hash(name) == SECOND_MOMENTS]
    sums = [job.wire[f"{name}.sums"] for name in own if f"{name}.sums" in job.wire]
    return max((tensor.shape[1] for tensor in sums), default=None)


def expected_disclosure(job: JobFile, images: int) -> str | None:
    """Before training: do so few images probably let others rebuild some of them?"""
    features = features_of(job)
    if features is None or not images:
        return None
    if job.manifest.secure is not None:
        total = images * len(job.site_names)
        span = GramSpan(min(total, features), features, total)
        few = f"if all {len(job.site_names)} sites have as few images as this one, the sum has {total:,}, and"
        return f"{few} images can be rebuilt from it, but not whose they are" if span.reveals_images else None
    span = GramSpan(min(images, features), features, images)
    few = f"{images:,} images for {span.features:,} features: {REBUILT}; {span.enough:,} images are enough"
    return few if span.reveals_images else None


def disclosed(
    job: JobFile, site: str, tensors: Mapping[str, Tensor], shard: ImageSet, rules: SiteRules, emit: Emit
) -> bool:
    """Stop if images can be rebuilt from what would leave the site and the site has not accepted that; has it?"""
    if job.manifest.secure is not None or figures_of(job.work):
        return False
    spans = gram_spans(tensors)
    span = most_revealing(spans)
    copies = ""
    if span is not None and not span.reveals_images:
        span = most_revealing([replace(one, images=different_images(shard, one, emit)) for one in spans])
        copies = " different"
    if span is None or not span.reveals_images:
        return False
    if not rules.accept_disclosure:
        raise FederationError(
            f"{site}: images can be rebuilt from its sums: {span.images:,}{copies} images span {span.rank:,} "
            f"directions of {span.features:,} features, and {span.enough:,}{copies} images are enough",
            "join with another site, or ask for a job with --secure-sum or with noise (--epsilon); if you accept it, "
            "add --accept-disclosure (a Flower node: accept_disclosure=true)",
        )
    return True


def different_images(shard: ImageSet, span: GramSpan, emit: Emit) -> int:
    """How many images behind this matrix there are at least, near-copies of each other counted as one.

    Of many images, a random part is compared, twice as large as would be enough.
    """
    chosen = (shard.labels == span.label).nonzero()[:, 0] if span.label is not None else torch.arange(len(shard))
    order = torch.randperm(len(chosen), generator=generator(0, "disclosure"))
    part = shard.select(chosen[order[: COMPARED * span.enough]].sort().values)
    first = {digest: place for place, digest in reversed(list(enumerate(part.image_digests())))}
    only = part.select(torch.tensor(sorted(first.values())))  # each once, also those without details

    def watch(done: int, of: int) -> None:
        if done:
            emit(ImagesRead(done, of))

    copies = near_copies(batches(only.images, BATCH), only.labels, watch)
    return len(set(joined(len(only), [(copy.image, copy.of) for copy in copies])))
