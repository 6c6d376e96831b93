"""What one poisoned site does to the model of all, with and without the checks of `mooring fuse-files`.

    python studies/poison.py            measures, and writes the table of docs/threats.md

Five sites share the digits (Dirichlet shares of every class), the largest one is poisoned. Accuracy is that of 360
images of the training set that no site has; half a minute.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev

import torch
from torch import Tensor

from mooring.data import Digits, ImageSet
from mooring.errors import MooringError
from mooring.evaluate import measure
from mooring.federation import suspects
from mooring.fusion import LinearHeadFusion, Server, admit, fuse
from mooring.models import Blueprint, DigitsNet, RandomFilters, RawPrototypes
from mooring.types import Upload
from mooring.uploads import Moments

HEAD = LinearHeadFusion(RandomFilters(16))
PART = Moments(HEAD.map, "shared", HEAD.precision)
BLUEPRINT = Blueprint(DigitsNet(), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))
SITES = ("north", "south", "east", "west", "centre")
SKEWS = {"even": 1.0, "skewed": 0.1}  # the concentration of the Dirichlet distribution
SEEDS = (1, 2, 3)
APART = 360
PAGE = Path(__file__).parents[1] / "docs/threats.md"
BEGIN, END = "<!-- poisoned sites -->", "<!-- end of poisoned sites -->"


def uploaded(client: int, shard: ImageSet, part: Moments = PART) -> Upload:
    tensors = part(BLUEPRINT.build(torch.Generator()), shard)
    return Upload(client, 0, len(shard), tensors, SITES[client], "job")


def divided(digits: ImageSet, skew: float, seed: int = 0, sites: int = 5) -> tuple[list[ImageSet], ImageSet]:
    """The images of every site, and those that nobody has."""
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(digits), generator=rng)
    train, held = digits.select(order[:-APART]), digits.select(order[-APART:])
    shares = torch._sample_dirichlet(torch.full((10, sites), skew), rng)
    site = torch.multinomial(shares[train.labels], 1, generator=rng)[:, 0]
    return [train.select((site == k).nonzero()[:, 0]) for k in range(sites)], held


def shuffled(shard: ImageSet) -> ImageSet:
    order = torch.randperm(len(shard), generator=torch.Generator().manual_seed(5))
    return ImageSet(shard.images, shard.labels[order], shard.classes)


def changed(upload: Upload, factors: dict[str, float]) -> Upload:
    """Tensors times a factor, by the end of their names."""

    def times(name: str, tensor: Tensor) -> Tensor:
        factor = factors.get(name.rpartition(".")[2])
        return tensor if factor is None else (tensor.double() * factor).to(tensor.dtype)

    return replace(upload, tensors={name: times(name, tensor) for name, tensor in upload.tensors.items()})


def many(upload: Upload) -> Upload:
    bigger = changed(upload, {"counts": 1e6, "sums": 1e6, "second": 1e6})
    return replace(bigger, samples=upload.samples * 10**6)


Poison = Callable[[Sequence[ImageSet], int], Upload]
NAN = float("nan")
POISON: dict[str, Poison] = {
    "labels shuffled": lambda shards, k: uploaded(k, shuffled(shards[k])),
    "sums and second moments times 1e6": lambda s, k: changed(uploaded(k, s[k]), {"sums": 1e6, "second": 1e6}),
    "features times 1e3": lambda s, k: changed(uploaded(k, s[k]), {"sums": 1e3, "second": 1e6}),
    "everything times 1e6": lambda s, k: many(uploaded(k, s[k])),
    "not a number": lambda s, k: changed(uploaded(k, s[k]), {"sums": NAN, "second": NAN}),
    "signs of all flipped": lambda s, k: changed(uploaded(k, s[k]), {"sums": -1.0, "second": -1.0}),
    "signs of the sums flipped": lambda s, k: changed(uploaded(k, s[k]), {"sums": -1.0}),
    "a copy of another site": lambda s, k: uploaded(k, s[(k + 1) % len(s)]),
}


def used(uploads: Sequence[Upload]) -> list[Upload]:
    """Admitted, and not suspect: as `mooring fuse-files` decides."""
    admitted = admit(uploads, HEAD.needs, BLUEPRINT, "job", strict=False).admitted
    aside = {rejection.client for rejection in suspects(PART, admitted, BLUEPRINT)}
    return [upload for upload in admitted if upload.client not in aside]


def accuracy(uploads: Sequence[Upload], held: ImageSet) -> float:
    return measure(fuse(HEAD, uploads, Server(BLUEPRINT))(held.images), held.labels).accuracy


def unchecked(uploads: Sequence[Upload], held: ImageSet) -> float | None:
    """Whatever comes out when nobody looks; None where nothing does."""
    try:
        scores = HEAD(uploads, Server(BLUEPRINT))(held.images)
    except (MooringError, RuntimeError):
        return None
    return (scores.argmax(1) == held.labels).double().mean().item() if torch.isfinite(scores).all() else None


def told(values: Sequence[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(values):
        return "no model"
    return f"{fmean(numbers):.3f} ± {stdev(numbers):.3f}"


def table() -> str:
    digits = Digits().train()
    lines = ["| poison of the largest of 5 sites | division | set aside | without it | with it, checked | unchecked |"]
    lines.append("|---|---|---|---|---|---|")
    for poison, make in POISON.items():
        for name, skew in SKEWS.items():
            found: list[tuple[bool, float, float, float | None]] = []
            for seed in SEEDS:
                shards, held = divided(digits, skew, seed)
                honest = [uploaded(k, shard) for k, shard in enumerate(shards)]
                worst = max(range(len(shards)), key=lambda k, shards=shards: len(shards[k]))
                others = [upload for upload in honest if upload.client != worst]
                uploads = [make(shards, k) if k == worst else upload for k, upload in enumerate(honest)]
                kept = used(uploads)
                found.append((len(kept) == 4, accuracy(others, held), accuracy(kept, held), unchecked(uploads, held)))
            aside, without, checked, alone = zip(*found, strict=True)
            row = (poison, name, f"{sum(aside)} of {len(SEEDS)}", told(without), told(checked), told(alone))
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


if __name__ == "__main__":
    torch.set_num_threads(1)
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}", "utf-8")
