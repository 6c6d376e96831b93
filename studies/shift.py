"""Other cameras: heads from the same sums on damaged images, and sites whose images differ in style.

    python studies/shift.py DATA[:ROOT] MAP [test]

Data and maps are those of studies/feature_maps.py. Heads are computed from the sums of 8,000 training images and looked
at on 500 others; with `test`, on 500 test images, once everything is chosen. Two tables:

- noise, blur, contrast and JPEG at five strengths, on the images that are looked at: mean over the strengths, and the
  strongest in brackets. The last row is the mean of all twenty, and the difference to ridge with its standard error
  over images;
- four sites with 1,000 of the images each: as they are, other colours, blurred, of half the resolution. At every site,
  on the 500 images in its style: the head of all sites, the head of the other three, and that of the site alone.

Features are kept below runs/shift.
"""

import sys
from collections.abc import Callable, Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter
from safetensors.torch import load_file
from torch import Tensor

from feature_maps import drawn, experiment_of, features, keep, kept_file
from heads import unit_columns
from mooring.data import ImageSet, batches
from mooring.fusion import HEADS, Ridge, Solver, gaussian_scores, head_cells, standardise_moments
from mooring.fusion._solvers import Discriminant, Standardised
from mooring.schema import to_tree
from mooring.seeds import numpy_generator
from mooring.uploads import SummedMoments

IMAGES, FITTED, LOOKED_AT, AT_SITE = 10_000, 8_000, 500, 1_000
KEPT = Path("runs/shift")
Change = Callable[[Image.Image, np.random.Generator], Image.Image]


def noisy(deviation: float) -> Change:
    def change(image: Image.Image, rng: np.random.Generator) -> Image.Image:
        pixels = np.asarray(image) + rng.normal(0, 255 * deviation, np.asarray(image).shape)
        return Image.fromarray(pixels.clip(0, 255).round().astype(np.uint8))

    return change


def blurred(radius: float) -> Change:
    return lambda image, _: image.filter(ImageFilter.GaussianBlur(radius))


def flat(factor: float) -> Change:
    return lambda image, _: ImageEnhance.Contrast(image).enhance(factor)


def jpeg(quality: int) -> Change:
    def change(image: Image.Image, _: np.random.Generator) -> Image.Image:
        file = BytesIO()
        image.save(file, "jpeg", quality=quality)
        return Image.open(file).convert(image.mode)

    return change


def tinted(gains: tuple[float, float, float]) -> Change:
    def change(image: Image.Image, _: np.random.Generator) -> Image.Image:
        return Image.fromarray((np.asarray(image) * np.array(gains)).clip(0, 255).round().astype(np.uint8))

    return change


def coarse(image: Image.Image, _: np.random.Generator) -> Image.Image:
    half = image.resize((image.width // 2, image.height // 2), Image.Resampling.BOX)
    return half.resize(image.size, Image.Resampling.BICUBIC)


DAMAGE: Mapping[str, tuple[Change, ...]] = {  # five strengths each
    "noise": tuple(map(noisy, (0.03, 0.06, 0.1, 0.15, 0.2))),
    "blur": tuple(map(blurred, (0.4, 0.7, 1.0, 1.4, 1.8))),
    "contrast": tuple(map(flat, (0.75, 0.55, 0.4, 0.25, 0.15))),
    "JPEG": tuple(map(jpeg, (80, 50, 30, 15, 8))),
}
STYLES: Mapping[str, Change] = {
    "as they are": lambda image, _: image,
    "other colours": tinted((1.25, 0.9, 0.6)),
    "blurred": blurred(1.0),
    "half the resolution": coarse,
}


def changed(images: ImageSet, change: Change, name: str) -> ImageSet:
    rng = numpy_generator(0, "shift", name)
    pixels = [
        change(Image.fromarray(one.permute(1, 2, 0).numpy()), rng)
        for part in batches(images.images, LOOKED_AT)
        for one in part
    ]
    arrays: NDArray[np.uint8] = np.stack([np.asarray(one) for one in pixels])
    return ImageSet(torch.from_numpy(arrays).permute(0, 3, 1, 2).contiguous(), images.labels, images.classes)


class Features:
    """Of images as they are and changed, under one map."""

    def __init__(self, data: str, word: str, on_test: bool) -> None:
        self.experiment = experiment_of(data, word)
        self.x, self.y = features(data, IMAGES, word)
        train = drawn(self.experiment.data, IMAGES)
        self.fitted = train.select(torch.arange(FITTED))
        if on_test:
            test = self.experiment.data.test()
            chosen = numpy_generator(0, "shift", "test").permutation(len(test))[:LOOKED_AT]
            self.looked = test.select(torch.from_numpy(chosen))
        else:
            self.looked = train.select(torch.arange(FITTED, FITTED + LOOKED_AT))
        self.part = "test" if on_test else "train"

    def of(self, images: ImageSet, change: Change, name: str) -> Tensor:
        file = kept_file(self.experiment, KEPT, name)
        if not file.exists():
            keep(file, self.experiment, changed(images, change, name))
        return load_file(file)["features"].double()

    def looked_at(self, change: Change, name: str) -> Tensor:
        return self.of(self.looked, change, f"{self.part}-{name}")


Head = Callable[[Tensor], Tensor]  # features -> classes
EVERY: tuple[Solver, ...] = (*HEADS, Discriminant())
FEW: tuple[Solver, ...] = (Ridge(), Discriminant())


def heads_from(x: Tensor, y: Tensor, classes: int, solvers: tuple[Solver, ...]) -> dict[str, Head]:
    """Heads from the sums of these images, and FedCOF's form with the strength of ridge."""
    one_hot = F.one_hot(y, classes).double()
    moments = standardise_moments(SummedMoments(one_hot.sum(0), one_hot.T @ x, x.T @ x))
    seen = (one_hot.sum(0) > 0).nonzero()[:, 0]
    found: dict[str, Head] = {}
    for solver in solvers:
        fit = solver(moments)
        name = head_cells(to_tree(solver))["head"]
        found[name] = of_classes(gaussian_scores(moments, fit), moments.shares.log(), seen)
        if isinstance(fit.solver, Ridge) and fit.solver.strength is not None:
            found["FedCOF's form"] = unit_head(moments, fit.solver.strength, seen)
    return found


def of_classes(scores: Callable[[Tensor], Tensor], prior: Tensor, seen: Tensor) -> Head:
    return lambda x: seen[(scores(x) + prior).argmax(1)]


def unit_head(moments: Standardised, strength: float, seen: Tensor) -> Head:
    unit = unit_columns(moments, strength)
    return lambda x: seen[((x - moments.centre) * moments.inverse @ unit).argmax(1)]


def damage_table(of: Features, heads: Mapping[str, Head]) -> None:
    print(f"| images | {' | '.join(heads)} |\n|---{'|---' * len(heads)}|")
    y = of.looked.labels
    right: dict[str, list[Tensor]] = {name: [] for name in heads}

    def hits(x: Tensor) -> list[Tensor]:
        return [(head(x) == y).double() for head in heads.values()]

    clean = hits(of.looked_at(STYLES["as they are"], "clean"))
    print(f"| as they are | {' | '.join(f'{own.mean():.3f}' for own in clean)} |")
    for kind, changes in DAMAGE.items():
        found = [hits(of.looked_at(change, f"{kind}-{at}")) for at, change in enumerate(changes, 1)]
        by_head = [torch.stack(own) for own in zip(*found, strict=True)]  # (5, N) each
        print(f"| {kind} | {' | '.join(f'{own.mean():.3f} ({own[-1].mean():.3f})' for own in by_head)} |", flush=True)
        for name, own in zip(heads, by_head, strict=True):
            right[name].append(own)
    means = {name: torch.cat(own).mean(0) for name, own in right.items()}  # (N,), over the twenty
    first = next(iter(means.values()))
    cells = [f"{own.mean():.3f}{apart(own - first)}" for own in means.values()]
    print(f"| all twenty | {' | '.join(cells)} |")


def apart(difference: Tensor) -> str:
    """In points, with the standard error over images."""
    if not difference.any():
        return ""
    return f" ({100 * difference.mean():+.1f} ± {100 * difference.std() / len(difference) ** 0.5:.1f})"


def site_table(of: Features, classes: int) -> None:
    x, y = [], of.y[: len(STYLES) * AT_SITE].reshape(len(STYLES), -1)
    for at, (name, change) in enumerate(STYLES.items()):
        own = torch.arange(at * AT_SITE, (at + 1) * AT_SITE)
        x.append(of.x[own].double() if at == 0 else of.of(of.fitted.select(own), change, f"site-{name}"))
    everybody = heads_from(torch.cat(x), y.flatten(), classes, FEW)
    print(f"\n| site | {' | '.join(f'{head}: all, left out, alone' for head in everybody)} |")
    print(f"|---{'|---' * len(everybody)}|")
    rows = []
    for at, (name, change) in enumerate(STYLES.items()):
        others = [k for k in range(len(STYLES)) if k != at]
        without = heads_from(torch.cat([x[k] for k in others]), y[others].flatten(), classes, FEW)
        alone = heads_from(x[at], y[at], classes, FEW)
        new = of.looked_at(change, "clean" if at == 0 else f"style-{name}")
        found = [
            [float((heads[head](new) == of.looked.labels).double().mean()) for heads in (everybody, without, alone)]
            for head in everybody
        ]
        rows.append(found)
        print(f"| {name} | {' | '.join(', '.join(f'{own:.3f}' for own in cell) for cell in found)} |", flush=True)
    means = torch.tensor(rows).mean(0)
    print(f"| mean | {' | '.join(', '.join(f'{own:.3f}' for own in cell) for cell in means.tolist())} |")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["test"]):
        sys.exit(__doc__)
    torch.set_num_threads(1)
    found = Features(sys.argv[1], sys.argv[2], len(sys.argv) == 4)
    classes = int(found.y.max()) + 1
    damage_table(found, heads_from(found.x[:FITTED].double(), found.y[:FITTED], classes, EVERY))
    site_table(found, classes)
