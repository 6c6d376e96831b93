"""What unusual and poisoned sites do to the model of all, and what the checks of `mooring fuse-files` make of them.

    python studies/poison.py            digits only; about a minute
    python studies/poison.py ROOT       digits, then CIFAR-10 from ROOT; four minutes

measures, and writes studies/reports/poison.md and counts in docs/security.md. Five sites share the images (Dirichlet
shares of every class); the largest one, or the largest two, are changed. Accuracy is that of training images that no
site has.

A site is *found* if it is rejected or needs review. "Checked" is the model without the sites that were found, which is
what a coordinator gets who drops each of them and keeps the honest ones; of a site and its copy one is dropped.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, stdev

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.data import SOURCES, Digits, ImageSet
from mooring.errors import MooringError
from mooring.evaluate import measure
from mooring.federation import Judgement, Outcome, judge
from mooring.fusion import LinearHeadFusion, Server, admit, fuse
from mooring.models import Blueprint, DigitsNet, EncoderFeatures, RandomFilters, RawPrototypes
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import FEATURE_BATCH, Moments

HEAD = LinearHeadFusion(RandomFilters(16))
PART = Moments(HEAD.map, "shared", HEAD.precision)
BLUEPRINT = Blueprint(DigitsNet(), RawPrototypes(), (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))
SITES = ("north", "south", "east", "west", "centre")
SKEWS = {"even": 1.0, "skewed": 0.05}  # the concentration of the Dirichlet distribution
SEEDS = tuple(range(1, 11))
PHOTO_SEEDS = tuple(range(1, 7))
APART = 360
PHOTOS, PHOTOS_APART = 3000, 600
PAGE = Path(__file__).parents[1] / "studies/reports/poison.md"
SECURITY = Path(__file__).parents[1] / "docs/security.md"
BEGIN, END = "<!-- poisoned sites -->", "<!-- end of poisoned sites -->"
COUNTED, COUNTED_END = "<!-- sites counted -->", "<!-- end of sites counted -->"


def uploaded(client: int, shard: ImageSet, part: Moments = PART) -> Upload:
    tensors = part(BLUEPRINT.build(torch.Generator()), shard)
    return Upload(client, 0, len(shard), tensors, SITES[client], "job")


def divided(images: ImageSet, skew: float, seed: int = 0, sites: int = 5) -> tuple[list[ImageSet], ImageSet]:
    """The images of every site, and those that nobody has."""
    rows, held = rows_of_sites(images.labels, skew, seed, sites, APART)
    return [images.select(own) for own in rows], images.select(held)


def rows_of_sites(labels: Tensor, skew: float, seed: int, sites: int, apart: int) -> tuple[list[Tensor], Tensor]:
    rng = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(labels), generator=rng)
    train, held = order[:-apart], order[-apart:]
    shares = torch._sample_dirichlet(torch.full((10, sites), skew), rng)
    site = torch.multinomial(shares[labels[train]], 1, generator=rng)[:, 0]
    return [train[site == k] for k in range(sites)], held


def shuffled(shard: ImageSet) -> ImageSet:
    return ImageSet(shard.images, shuffled_labels(shard.labels), shard.classes)


def shuffled_labels(labels: Tensor) -> Tensor:
    return labels[torch.randperm(len(labels), generator=torch.Generator().manual_seed(5))]


def swapped_labels(labels: Tensor, share: float = 1.0) -> Tensor:
    """The first class and the second, the third and the fourth exchanged, for a share of the images."""
    chosen = torch.rand(len(labels), generator=torch.Generator().manual_seed(6)) < share
    return torch.where(chosen & (labels < 4), labels ^ 1, labels)


def changed(upload: Upload, factors: dict[str, float]) -> Upload:
    """Tensors times a factor, by the end of their names."""

    def times(name: str, tensor: Tensor) -> Tensor:
        factor = factors.get(name.rpartition(".")[2])
        return tensor if factor is None else (tensor.double() * factor).to(tensor.dtype)

    return replace(upload, tensors={name: times(name, tensor) for name, tensor in upload.tensors.items()})


def many(upload: Upload, times: int = 10**6) -> Upload:
    bigger = changed(upload, {"counts": times, "sums": times, "second": times})
    return replace(bigger, samples=upload.samples * times)


def with_ridge(upload: Upload, share: float = 0.5) -> Upload:
    """c I added to the second moments, c a share of their largest diagonal entry: positive definite and in bounds."""
    name = next(name for name in upload.tensors if name.endswith("second"))
    packed = upload.tensors[name].double()
    d = next(tensor.shape[1] for key, tensor in upload.tensors.items() if key.endswith("sums"))
    rows, columns = torch.triu_indices(d, d)
    diagonal = rows == columns
    packed[diagonal] += share * packed[diagonal].max()
    return replace(upload, tensors={**upload.tensors, name: packed.to(upload.tensors[name].dtype)})


def thin(upload: Upload) -> Upload:
    """The class means as they are, but of one image for each class: as if chance explained any distance."""
    (first, counts), (second, sums), (third, packed) = upload.tensors.items()
    means = sums.double() / counts.double().clamp(min=1)[:, None]
    rows, columns = torch.triu_indices(means.shape[1], means.shape[1])
    gram = (means.T @ means)[rows, columns].to(packed.dtype)
    one = (counts > 0).long()
    tensors = {first: one, second: means.to(sums.dtype), third: gram}
    return replace(upload, tensors=tensors, samples=int(one.sum()))


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
    "c I added to the second moments": lambda s, k: with_ridge(uploaded(k, s[k])),
}


def blurred(x: Tensor) -> Tensor:
    return F.avg_pool2d(F.pad(x, (1, 1, 1, 1), mode="replicate"), 3, 1)


def coarse(x: Tensor) -> Tensor:
    return F.interpolate(F.avg_pool2d(x, 2), size=x.shape[-2:], mode="nearest")


def other_colours(x: Tensor) -> Tensor:
    """Channels turned round and weighted; grey images get another contrast."""
    if x.shape[1] == 1:
        return 255 * (x / 255) ** 0.5
    return x.roll(1, 1) * torch.tensor([0.6, 1.0, 1.2]).view(1, 3, 1, 1)


def with_noise(x: Tensor) -> Tensor:
    return x + 25 * torch.randn(x.shape, generator=torch.Generator().manual_seed(7))


Change = Callable[[Tensor], Tensor]
SHIFTS: dict[str, Change] = {
    "none": lambda x: x,
    "other colours (digits: other contrast)": other_colours,
    "blurred": blurred,
    "half the resolution": coarse,
    "inverted": lambda x: 255 - x,
}


@dataclass
class Setting:
    """Images, and what turns them into a model; features are computed once for each change of the images."""

    name: str
    images: ImageSet
    apart: int  # images that no site has
    blueprint: Blueprint = BLUEPRINT
    head: LinearHeadFusion = HEAD
    seeds: tuple[int, ...] = SEEDS
    known: dict[Change, Tensor] = field(default_factory=dict)

    def features(self, change: Change) -> Tensor:
        """phi of all images, changed as another device would take them; pixels from 0 to 255."""
        if change not in self.known:
            pixels = change(self.images.images.float()).clamp(0, 255).round().to(torch.uint8)
            phi = self.head.map.build(self.blueprint)
            self.known[change] = torch.cat([phi(part).double() for part in pixels.split(FEATURE_BATCH)])
        return self.known[change]

    def divisions(self, skew: float) -> Iterator[tuple[list[Tensor], Tensor]]:
        """For every seed, the rows of each site and of held-out images; only where every site has images."""
        for seed in self.seeds:
            rows, held = rows_of_sites(self.images.labels, skew, seed, len(SITES), self.apart)
            if all(len(own) > 1 for own in rows):
                yield rows, held

    def uploaded(
        self, client: int, rows: Tensor, relabel: Change | None = None, change: Change = SHIFTS["none"]
    ) -> Upload:
        """What `Moments` makes of these images."""
        labels = self.images.labels[rows]
        labels = labels if relabel is None else relabel(labels)
        x, y = self.features(change)[rows], F.one_hot(labels, 10).double()
        part = Moments(self.head.map, "shared", self.head.precision)
        names = part.expected(self.blueprint)
        first, second = torch.triu_indices(x.shape[1], x.shape[1])
        sums = y.sum(0).long(), (y.T @ x).float(), (x.T @ x)[first, second].float()
        return Upload(client, 0, len(rows), dict(zip(names, sums, strict=True)), SITES[client], "job")

    def accuracy(self, uploads: Sequence[Upload], held: Tensor, change: Change = SHIFTS["none"]) -> float | None:
        """On held-out images; None where there is no model."""
        try:
            predictor = self.head(uploads, Server(self.blueprint))
        except (MooringError, RuntimeError):
            return None
        known = predictor.head(self.features(change)[held])
        chosen = predictor.seen.nonzero()[:, 0][known.argmax(1)]
        right = (chosen == self.images.labels[held]).double().mean().item()
        return right if torch.isfinite(known).all() else None


Attack = Callable[[Setting, Sequence[Tensor], int], Upload]
ATTACKS: dict[str, Attack] = {
    "labels shuffled": lambda on, s, k: on.uploaded(k, s[k], shuffled_labels),
    "labels moved to the next class": lambda on, s, k: on.uploaded(k, s[k], lambda labels: (labels + 1) % 10),
    "two pairs of classes swapped": lambda on, s, k: on.uploaded(k, s[k], swapped_labels),
    "the same, everything times 50": lambda on, s, k: many(on.uploaded(k, s[k], swapped_labels), 50),
    "the same, everything times 999": lambda on, s, k: many(on.uploaded(k, s[k], swapped_labels), 999),
    "absurd counts: everything times 1e6": lambda on, s, k: many(on.uploaded(k, s[k])),
    "c I added, c half of the largest entry": lambda on, s, k: with_ridge(on.uploaded(k, s[k])),
    "c I added, c a hundredth of it": lambda on, s, k: with_ridge(on.uploaded(k, s[k]), 0.01),
    "class means as if of one image each": lambda on, s, k: thin(on.uploaded(k, s[k])),
    "a copy of another site": lambda on, s, k: on.uploaded(k, s[copied(s, k)]),
    "a copy with noise in its pixels": lambda on, s, k: on.uploaded(k, s[copied(s, k)], None, with_noise),
    "two pairs swapped in 30 % of the images": lambda on, s, k: on.uploaded(
        k, s[k], lambda labels: swapped_labels(labels, 0.3)
    ),
}


def copied(rows: Sequence[Tensor], client: int) -> int:
    """The site whose images a copier takes: never one that is poisoned itself."""
    smallest = sorted(range(len(rows)), key=lambda k: len(rows[k]))
    return smallest[largest(rows, 2).index(client)]


def judged(
    uploads: Sequence[Upload], head: LinearHeadFusion = HEAD, blueprint: Blueprint = BLUEPRINT
) -> tuple[Judgement, ...]:
    """What `mooring fuse-files` decides: admission first, then rules and comparisons."""
    admission = admit(uploads, head.needs, blueprint, "job", strict=False)
    rejected = (Judgement(row.client, row.site, Outcome.REJECTED, row.problems) for row in admission.rejected)
    found = (*rejected, *(judge(admission.admitted, head.needs, blueprint) if admission.admitted else ()))
    return tuple(sorted(found, key=lambda row: row.client))


@dataclass
class Counts:
    """What became of sites, over many fusions."""

    fusions: int = 0
    poisoned: int = 0
    found: int = 0
    honest: int = 0
    asked: int = 0  # honest sites that need review
    rejected: int = 0  # honest sites

    def add(self, judgements: Sequence[Judgement], poisoned: set[int]) -> None:
        self.fusions += 1
        self.poisoned += len(poisoned)
        self.found += len(found_among(judgements) & poisoned)
        honest = [row.outcome for row in judgements if row.client not in poisoned]
        self.honest += len(honest)
        self.asked += honest.count(Outcome.NEEDS_REVIEW)
        self.rejected += honest.count(Outcome.REJECTED)

    def row(self, title: str) -> str:
        used = self.honest - self.asked - self.rejected
        cells = (self.fusions, self.poisoned, self.found, self.honest, used, self.asked, self.rejected)
        return f"| {title} | {' | '.join(f'{cell:,}' for cell in cells)} |"


def found_among(judgements: Sequence[Judgement]) -> set[int]:
    return {row.client for row in judgements if row.outcome is not Outcome.USED}


def accuracy(uploads: Sequence[Upload], held: ImageSet) -> float:
    return measure(fuse(HEAD, uploads, Server(BLUEPRINT))(held.images), held.labels).accuracy


def mean_text(values: Sequence[float | None]) -> str:
    numbers = [value for value in values if value is not None]
    return "no model" if len(numbers) < len(values) else f"{fmean(numbers):.3f} ± {stdev(numbers):.3f}"


def largest(rows: Sequence[Tensor], count: int) -> list[int]:
    return sorted(range(len(rows)), key=lambda k: -len(rows[k]))[:count]


def shift_rows(on: Setting, counts: Counts) -> Iterator[str]:
    """Honest sites, one of which takes other images: nobody may be rejected; how often a person is asked."""
    for shift, change in SHIFTS.items():
        for skew_name, skew in SKEWS.items():
            outcomes: list[Outcome] = []
            everybody, without = [], []
            for rows, held in on.divisions(skew):
                [own] = largest(rows, 1)
                uploads = [on.uploaded(k, r, None, change if k == own else SHIFTS["none"]) for k, r in enumerate(rows)]
                judgements = judged(uploads, on.head, on.blueprint)
                counts.add(judgements, set())
                outcomes += [row.outcome for row in judgements]
                everybody.append(on.accuracy(uploads, held, change))
                without.append(on.accuracy(uploads[:own] + uploads[own + 1 :], held, change))
            shares = [f"{outcomes.count(one)} of {len(outcomes)}" for one in (Outcome.REJECTED, Outcome.NEEDS_REVIEW)]
            cells = (on.name, shift, skew_name, str(len(everybody)), *shares, mean_text(everybody), mean_text(without))
            yield f"| {' | '.join(cells)} |"


@dataclass
class Tally:
    """What became of one attack, over seeds."""

    liars: int
    found: int = 0
    accused: int = 0  # honest sites
    without: list[float | None] = field(default_factory=list)  # accuracy of the honest sites alone
    checked: list[float | None] = field(default_factory=list)
    unchecked: list[float | None] = field(default_factory=list)

    @property
    def n(self) -> int:
        return len(self.without)

    @property
    def counts(self) -> tuple[str, str]:
        return f"{self.found} of {self.n * self.liars}", f"{self.accused} of {self.n * (len(SITES) - self.liars)}"

    @property
    def figures(self) -> list[str]:
        return [mean_text(values) for values in (self.without, self.checked, self.unchecked)]


def tallied(on: Setting, attack: str, liars: int, skew: float, counts: Counts) -> Tally:
    tally = Tally(liars)
    for rows, held in on.divisions(skew):
        bad = set(largest(rows, liars))
        honest = [on.uploaded(k, own) for k, own in enumerate(rows)]
        uploads = [ATTACKS[attack](on, rows, k) if k in bad else upload for k, upload in enumerate(honest)]
        judgements = judged(uploads, on.head, on.blueprint)
        originals = {copied(rows, k) for k in bad} if attack.startswith("a copy") else set()
        counts.add([row for row in judgements if row.client in bad or row.client not in originals], bad)
        aside = found_among(judgements)
        tally.found += len(aside & bad)
        tally.accused += len(aside - bad - originals)
        tally.without.append(on.accuracy([upload for upload in honest if upload.client not in bad], held))
        tally.checked.append(on.accuracy([upload for upload in uploads if upload.client not in aside & bad], held))
        tally.unchecked.append(on.accuracy(uploads, held))
    return tally


def attack_rows(on: Setting, counted: Counts) -> Iterator[str]:
    for attack in ATTACKS:
        for skew_name, skew in SKEWS.items():
            one, two = (tallied(on, attack, liars, skew, counted) for liars in (1, 2))
            counts = [f"{first}; {second}" for first, second in zip(one.counts, two.counts, strict=True)]
            cells = (on.name, attack, skew_name, str(one.n), *counts, *one.figures, *two.figures)
            yield f"| {' | '.join(cells)} |"


def printed(rows: Iterator[str]) -> Iterator[str]:
    for row in rows:
        print(row, flush=True)
        yield row


def tables(settings: Sequence[Setting]) -> tuple[str, str]:
    """All rows, and the counts over them."""
    honest, attacked = Counts(), Counts()
    lines = ["| images | shift of one honest site | division | n | rejected | asked about | with it | without it |"]
    lines.append("|---|---|---|---|---|---|---|---|")
    lines += [row for on in settings for row in printed(shift_rows(on, honest))]
    accuracies = [f"{liars}: {what}" for liars in (1, 2) for what in ("without", "checked", "unchecked")]
    heads = ["images", "poison of 1; 2 sites", "division", "n", "found", "honest asked about", *accuracies]
    lines += ["", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [row for on in settings for row in printed(attack_rows(on, attacked))]
    counts = ["| sites | fusions | poisoned | found | honest | used | asked about | expelled |", "|---" * 8 + "|"]
    counts += [honest.row("all honest, one with other images"), attacked.row("one or two of five poisoned")]
    return "\n".join(lines), "\n".join(counts)


def photos(root: str) -> Setting:
    """CIFAR-10, a sample of the training images, seen through the last stage of a small encoder."""
    images = SOURCES["cifar10"](root=root).train()
    order = torch.randperm(len(images), generator=generator(0, "poison"))[: PHOTOS + PHOTOS_APART]
    blueprint = Blueprint(DigitsNet(), RawPrototypes(), (3, 32, 32), images.classes, (0.5,) * 3, (0.25,) * 3)
    head = LinearHeadFusion(EncoderFeatures("efficientnet-lite0", layers=("stage7",), views="one"))
    return Setting("CIFAR-10", images.select(order), PHOTOS_APART, blueprint, head, PHOTO_SEEDS)


def write(path: Path, begin: str, text: str, end: str) -> None:
    before, rest = path.read_text("utf-8").split(begin)
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{rest.split(end)[1]}", "utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    settings = [Setting("digits", Digits().train(), APART), *map(photos, sys.argv[1:2])]
    found, counted = tables(settings)
    write(PAGE, BEGIN, found, END)
    write(SECURITY, COUNTED, counted, COUNTED_END)
