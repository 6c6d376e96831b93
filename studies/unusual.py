"""Does a model of CIFAR-10 know which images are unlike its training images? And do its thresholds keep their rates?

    python studies/unusual.py encoder|none [SPLITS]

`encoder` is the default encoder, `none` the features without training. 8,000 random training images are divided 6,000
to 2,000, once for each split: the sums of the first are fitted by the head of `mooring`, the others calibrate it as
`mooring calibrate` does. Then 1,000 random test images of each set are looked at, once; images of other sizes are
brought to 32 x 32 in colour. A row is the mean and standard deviation over splits. Features are kept below
runs/unusual.

With the word `choose` in the place of SPLITS no test image is read: it compares directions and exponents on the 2,000
training images that were held out, against training images of SVHN and Fashion-MNIST, digits and noise.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import fmean, stdev

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from feature_maps import blueprint_of
from mooring import Experiment, load
from mooring.data import SOURCES, ImageSet, batches, in_memory
from mooring.evaluate import auc
from mooring.federation import Targets
from mooring.federation._calibration import abstention, calibrated
from mooring.federation._look import unusualness
from mooring.fusion import LinearHeadFusion, gaussian_scores, standardise_moments
from mooring.fusion import _typical as typical_module
from mooring.fusion._linear_head import temperature_of
from mooring.fusion._typical import Typical, typical_images
from mooring.models import map_for_shape
from mooring.seeds import generator
from mooring.uploads import SummedMoments

KEPT = Path("runs/unusual")
KNOWN, FITTED, TESTED = 8000, 6000, 1000
SIDE = 32
OTHERS = ("svhn", "digits", "fashion_mnist", "cifar100", "noise")
RATES = (0.05, 0.01)
FEW = (100, 300, 2000)  # images that a calibration is made of
ERROR = 0.1


def drawn(images: ImageSet, count: int, seed: int) -> tuple[Tensor, Tensor]:
    """So many random images and their labels, or all of them."""
    chosen = torch.randperm(len(images), generator=torch.Generator().manual_seed(seed))[:count]
    some = in_memory(images.select(chosen))
    return torch.cat(list(batches(some.images, 256))), some.labels


def noise(count: int) -> tuple[Tensor, Tensor]:
    rng = torch.Generator().manual_seed(3)
    return torch.randint(0, 256, (count, 3, SIDE, SIDE), generator=rng, dtype=torch.uint8), torch.zeros(count).long()


SETS: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {
    "cifar10 known": lambda: drawn(SOURCES["cifar10"]().train(), KNOWN, 1),
    "cifar10": lambda: drawn(SOURCES["cifar10"]().test(), TESTED, 2),
    **{name: lambda name=name: drawn(SOURCES[name]().test(), TESTED, 2) for name in OTHERS if name != "noise"},
    "digits": lambda: drawn(SOURCES["digits"]().train(), TESTED, 2),  # it has 360 test images; none is trained on here
    "noise": lambda: noise(TESTED),
    "svhn known": lambda: drawn(SOURCES["svhn"]().train(), 600, 5),
    "fashion_mnist known": lambda: drawn(SOURCES["fashion_mnist"]().train(), 400, 7),
}


def features(word: str, name: str) -> tuple[Tensor, Tensor]:
    """(N, d), float64, and labels; from disk where they were computed before."""
    file = KEPT / f"{word}-{name.replace(' ', '-')}.safetensors"
    if not file.exists():
        images, labels = SETS[name]()
        images = F.interpolate(images.float(), (SIDE, SIDE), mode="bicubic", antialias=True)
        images = images.clamp(0, 255).round().to(torch.uint8).expand(-1, 3, -1, -1)
        phi = phi_of(word)
        with torch.inference_mode():
            x = torch.cat([phi(batch) for batch in images.split(128)])
        KEPT.mkdir(parents=True, exist_ok=True)
        save_file({"features": x.contiguous(), "labels": labels}, file)
        print(f"{name}: {len(x)} images, {x.shape[1]} features", file=sys.stderr, flush=True)
    kept = load_file(file)
    return kept["features"].double(), kept["labels"]


def experiment_of(word: str) -> Experiment:
    (experiment,) = load(overrides=["data.source=cifar10", *(["encoder=none"] if word == "none" else [])])
    return experiment


def rule_of(word: str) -> LinearHeadFusion:
    fusion = experiment_of(word).method.fusion
    assert isinstance(fusion, LinearHeadFusion)
    return fusion


def phi_of(word: str) -> torch.nn.Module:
    experiment = experiment_of(word)
    blueprint = blueprint_of(experiment, (3, SIDE, SIDE), tuple("0123456789"))
    return map_for_shape(rule_of(word).map, blueprint.shape).build(blueprint)


class Fitted:
    """The head of `mooring` and what it knows of typical images, from the sums of these features."""

    def __init__(self, word: str, x: Tensor, y: Tensor) -> None:
        one_hot = F.one_hot(y).double()
        self.moments = standardise_moments(SummedMoments(one_hot.sum(0), one_hot.T @ x, x.T @ x))
        fit = rule_of(word).solver(self.moments)
        self.head, self.temperature = gaussian_scores(self.moments, fit), temperature_of(self.moments, fit)
        self.counts = one_hot.sum(0)
        self.typical = self.typical_of()

    def typical_of(self) -> Typical:
        found = typical_images(self.moments, self.counts)
        assert found is not None
        saved = Typical.restored(found.tensors(), len(self.counts))  # as a model file holds it
        assert saved is not None
        return saved

    def scores(self, x: Tensor) -> Tensor:
        return ((self.head(x) + self.moments.shares.log()) / self.temperature).log_softmax(1)

    def unusual(self, x: Tensor) -> Tensor:
        pairs = zip(self.scores(x), self.typical.by_class(x), strict=True)
        return torch.tensor([unusualness(*pair) for pair in pairs], dtype=torch.float64)


def separation(out: Tensor, usual: Tensor) -> float:
    found = auc(torch.cat([out, usual]), torch.arange(len(out) + len(usual)) < len(out))
    assert found is not None
    return found


def splits(word: str, count: int) -> Iterator[tuple[Fitted, Tensor, Tensor]]:
    """The model of a split, and the training images that were held out."""
    x, y = features(word, "cifar10 known")
    for seed in range(1, count + 1):
        order = torch.randperm(KNOWN, generator=generator(seed, "split"))
        yield Fitted(word, x[order[:FITTED]], y[order[:FITTED]]), x[order[FITTED:]], y[order[FITTED:]]


def measure(word: str, count: int) -> None:
    tested, labels = features(word, "cifar10")
    out = {name: features(word, name)[0] for name in OTHERS}
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for model, held, held_labels in splits(word, count):
        usual, own = model.unusual(tested), model.unusual(held)
        limits = {
            (few, rate): calibrated(
                "0" * 64, "held", tuple("0123456789"), model.scores(held)[:few], held_labels[:few], own[:few], targets
            )
            for few, rate in product(FEW, RATES)
            for targets in [Targets(rate)]
        }
        for (few, rate), limit in limits.items():
            if limit.unusual is not None:
                note(f"false alarms at {rate:.0%}, {few} images", float((usual > limit.unusual).double().mean()))
            if rate == RATES[0]:
                told, own_told = ((model.scores(x) / limit.temperature).softmax(1) for x in (tested, held[:few]))
                least, _ = abstention(own_told.amax(1), own_told.argmax(1) == held_labels[:few], ERROR)
                kept = told.amax(1) >= (2.0 if least is None else least)
                note(f"answered at error {ERROR:.0%}, {few} images", float(kept.double().mean()))
                if kept.any():
                    wrong = (told.argmax(1) != labels)[kept]
                    note(f"wrong of these, {few} images", float(wrong.double().mean()))
        note("accuracy", float((model.scores(tested).argmax(1) == labels).double().mean()))
        for name, x in out.items():
            values = model.unusual(x)
            note(f"{name}: AUROC", separation(values, usual))
            note(
                f"{name}: AUROC, distance alone", separation(model.typical.distance(x), model.typical.distance(tested))
            )
            for rate in RATES:
                limit = limits[FEW[-1], rate].unusual
                note(f"{name}: marked at {rate:.0%}", float((values > (limit or 0.0)).double().mean()))
    for name, values in found.items():
        spread = f" +- {stdev(values):.3f}" if len(values) > 1 else ""
        print(f"{word}, {name}: {fmean(values):.3f}{spread} (n = {len(values)})", flush=True)


def choose(word: str) -> None:
    """AUROC of four sets, for every number of directions and every exponent."""
    [(model, held, _)] = splits(word, 1)
    out = {name: features(word, name)[0] for name in ("svhn known", "fashion_mnist known", "digits", "noise")}
    for directions in (16, 32, 64, 128):
        typical_module.DIRECTIONS = directions
        model.typical = model.typical_of()
        near = {name: model.typical.distance(x).log() for name, x in {**out, "held": held}.items()}
        sure = {name: model.scores(x).amax(1) for name, x in {**out, "held": held}.items()}
        for doubt in (0.0, 0.125, 0.25, 0.5):
            values = {name: near[name] - doubt * sure[name] for name in near}
            told = ", ".join(f"{name} {separation(values[name], values['held']):.3f}" for name in out)
            print(f"{word}, {directions} directions, exponent {doubt}: {told}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("encoder", "none"):
        sys.exit(__doc__)
    if sys.argv[2:] == ["choose"]:
        choose(sys.argv[1])
    else:
        measure(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else 3)
