"""Rebuild images of a small site from its upload: what the disclosure check of `mooring train` is derived from.

    python studies/reconstruct.py           digits only; about two minutes of one core
    python studies/reconstruct.py ROOT      digits, then CIFAR-10 from ROOT; about eight minutes

measures, and writes studies/reports/reconstruct.md and counts in docs/security.md.

The attacker holds one upload of the method `mooring` (counts, sums
of classes and the Gram matrix, in float32 as they are sent) and the feature map phi, which is public. Nothing is known
about the images. For the span U of the Gram matrix, the attacker minimises over pixels x in [0, 1], from random starts,

    log(|phi(x) - U U' phi(x)|^2 / |phi(x)|^2)  +  smooth * mean |difference of neighbouring pixels|

With fewer images than features, every image of the site makes the fraction zero, and few other pixels do. `smooth` is 0
for the digits; photos have more pixels than features, so the attacker prefers smooth images there. An image counts as
rebuilt if a start ends with a correlation above 0.95 to it, over all pixels and colours.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from time import process_time

import onnx
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.data import SOURCES, ImageSet
from mooring.events import silent
from mooring.federation import GramSpan, different_images
from mooring.models import (
    FLAT_VARIANCE,
    Blueprint,
    DigitsNet,
    EncoderFeatures,
    FeatureMap,
    RawPrototypes,
    ResNet8,
    WhitenedFilters,
)
from mooring.uploads import Moments, unpack_triangle

SEEDS = (1, 2)
REBUILT = 0.95  # correlation with an image of the site
ROUNDING = 1e-6  # of the largest eigenvalue, below which a direction is rounding
TINY = 1e-12
COARSE = 8  # pixels a side of the noise that an attack starts from
PAGE = Path(__file__).parents[1] / "studies/reports/reconstruct.md"
HEADINGS = "| images | map | features | site has | rank | starts | steps | rebuilt | best | mean | seconds |"
SECURITY = Path(__file__).parents[1] / "docs/security.md"
BEGIN, END = "<!-- rebuilt images -->", "<!-- end of rebuilt images -->"
COUNTED, COUNTED_END = "<!-- images counted -->", "<!-- end of images counted -->"
Features = Callable[[Tensor], Tensor]  # pixels in [0, 1] -> features, with gradients


@dataclass(frozen=True)
class Setting:
    """What is attacked, and how much work the attacker does."""

    source: str
    map: FeatureMap
    title: str
    images: tuple[int, ...]  # of the site
    starts: int
    steps: int
    smooth: float = 0.0
    copies: int = 1  # that the site has of every image
    noise: float = 0.0  # of each copy, of 255
    directions: int | None = None  # of the span, the largest ones; None: all above rounding

    @property
    def kind(self) -> str:
        return "" if self.copies == 1 else f", {self.copies} copies of each, noise {self.noise:g}"

    def held(self, images: int) -> str:
        """50 (20 times, noise 5)"""
        return str(images) if self.copies == 1 else f"{images} ({self.copies} times, noise {self.noise:g})"


DIGITS, PHOTOS = "digits, 8 x 8 grey", "CIFAR-10, 32 x 32 colour"
FILTERS, ENCODER = "whitened filters", "encoder (EfficientNet-Lite2)"
SETTINGS = (
    Setting("digits", WhitenedFilters(), f"{DIGITS} | {FILTERS}", (5, 20, 100, 250, 400, 500, 640), 64, 400),
    Setting("digits", WhitenedFilters(channels=32), f"{DIGITS} | {FILTERS}", (5, 20, 60, 100, 160), 64, 400),
    Setting("digits", WhitenedFilters(), f"{DIGITS} | {FILTERS}", (50,), 64, 400, copies=20),
    Setting("digits", WhitenedFilters(), f"{DIGITS} | {FILTERS}", (50,), 64, 400, copies=20, noise=2.0),
    Setting("digits", WhitenedFilters(), f"{DIGITS} | {FILTERS}", (50,), 64, 400, copies=20, noise=5.0, directions=50),
    Setting("digits", WhitenedFilters(), f"{DIGITS} | {FILTERS}", (50,), 64, 400, copies=20, noise=20.0, directions=50),
    Setting("cifar10", WhitenedFilters(), f"{PHOTOS} | {FILTERS}", (5, 20, 100, 500), 2, 400, 10.0),
    Setting("cifar10", EncoderFeatures(), f"{PHOTOS} | {ENCODER}", (5, 20, 100, 500), 1, 400, 10.0),
)


@dataclass(frozen=True)
class Outcome:
    """One upload attacked."""

    images: int
    features: int
    rank: int
    rebuilt: int  # different images
    best: float  # correlation of the best start
    mean: float  # over starts
    seconds: float  # of one core
    stopped: bool  # by the disclosure check


def blueprint_of(images: ImageSet) -> Blueprint:
    channels = images.shape[0]
    backbone = DigitsNet() if channels == 1 else ResNet8()
    return Blueprint(backbone, RawPrototypes(), images.shape, images.classes, (0.5,) * channels, (0.25,) * channels)


def with_gradients(phi: nn.Module) -> Features:
    """The feature map as a differentiable function of a batch: the modules of Mooring are written for speed."""
    if hasattr(phi[0], "plan"):
        return encoder_with_gradients(phi[0])
    normalise, projected = phi
    inner = projected.responses

    def features(x: Tensor) -> Tensor:
        patches = F.unfold(normalise(x), inner.side).transpose(1, 2)
        patches = patches - patches.mean(2, keepdim=True)
        patches = patches / (patches.square().mean(2, keepdim=True) + FLAT_VARIANCE).sqrt()
        u = patches @ inner.filters.T + inner.offset
        maps = torch.cat([F.relu(u - inner.threshold), F.relu(-u - inner.threshold)], 2).transpose(1, 2)
        maps = maps.unflatten(2, (x.shape[2] - inner.side + 1, -1))
        pooled = F.adaptive_avg_pool2d(maps, inner.grid).flatten(2).transpose(1, 2)
        return (((pooled + TINY).sqrt() - projected.centre) @ projected.basis).flatten(1)

    return features


def encoder_with_gradients(phi: nn.Module) -> Features:
    """The ONNX graph of a packaged encoder, run by torch."""
    plan = phi.plan(phi.file())
    graph = onnx.load_from_string(plan.graph).graph
    weights = {w.name: torch.from_numpy(onnx.numpy_helper.to_array(w).copy()) for w in graph.initializer}

    def features(x: Tensor) -> Tensor:
        values = {graph.input[0].name: plan.prepare(x)}
        for node in graph.node:
            a = values[node.input[0]]
            match node.op_type:
                case "Conv":
                    facts = {fact.name: onnx.helper.get_attribute_value(fact) for fact in node.attribute}
                    stride, kernel = facts["strides"][0], facts["kernel_shape"][0]
                    extra = [max((-(-n // stride) - 1) * stride + kernel - n, 0) for n in (a.shape[3], a.shape[2])]
                    a = F.pad(a, [side for e in extra for side in (e // 2, e - e // 2)])
                    weight, bias = (weights[name] for name in node.input[1:])
                    value = F.conv2d(a, weight, bias, stride, groups=facts["group"])
                case "Clip":
                    value = a.clamp(0, 6)
                case "Add":
                    value = a + values[node.input[1]]
                case _:
                    value = a
            values[node.output[0]] = value
        return torch.cat([layer(values[layer.name]) for layer in plan.layers], 1)

    return features


def attack(setting: Setting, site: ImageSet, seed: int) -> Outcome:
    """Build the upload, rebuild what can be rebuilt from it alone, then compare."""
    began = process_time()
    blueprint = blueprint_of(site)
    uploaded = copied(site, setting, seed)
    _, sums, second = Moments(setting.map, "shared", "float32")(blueprint.build(torch.Generator()), uploaded).values()
    values, vectors = torch.linalg.eigh(unpack_triangle(second.double(), sums.shape[1]))
    rank = int((values > ROUNDING * values[-1]).sum())
    span = vectors[:, -min(rank, setting.directions or rank) :].float()
    pixels = rebuilt_from(span, with_gradients(setting.map.build(blueprint)), site.shape, setting, seed)
    best, which = correlation(pixels, site.images.float() / 255).max(1)
    different = len(which[best > REBUILT].unique())
    seconds = process_time() - began
    sent = GramSpan(rank, sums.shape[1], len(uploaded))
    stopped = replace(sent, images=different_images(uploaded, sent, silent)).reveals_images
    return Outcome(len(site), sums.shape[1], rank, different, best.max().item(), best.mean().item(), seconds, stopped)


def copied(site: ImageSet, setting: Setting, seed: int) -> ImageSet:
    """Every image several times, each with noise of its own."""
    pixels = site.images.repeat(setting.copies, 1, 1, 1).float()
    noise = torch.randn(pixels.shape, generator=torch.Generator().manual_seed(seed))
    pixels = (pixels + setting.noise * noise).clamp(0, 255).round().to(torch.uint8)
    return ImageSet(pixels, site.labels.repeat(setting.copies), site.classes)


def rebuilt_from(span: Tensor, features: Features, shape: tuple[int, int, int], setting: Setting, seed: int) -> Tensor:
    """Pixels, one image for each random start."""
    rng = torch.Generator().manual_seed(seed)
    coarse = torch.randn(setting.starts, shape[0], *(min(side, COARSE) for side in shape[1:]), generator=rng)
    z = F.interpolate(coarse, shape[1:], mode="bilinear").requires_grad_()
    optimiser = torch.optim.Adam([z])
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.2, total_steps=setting.steps)
    for _ in range(setting.steps):
        x = z.sigmoid()
        phi = features(x)
        outside = (1 - (phi @ span).square().sum(1) / phi.square().sum(1)).clamp(min=TINY)
        rough = (x.diff(dim=2).abs().mean((1, 2, 3)) + x.diff(dim=3).abs().mean((1, 2, 3))) / 2
        optimiser.zero_grad()
        (outside.log() + setting.smooth * rough).sum().backward()
        optimiser.step()
        schedule.step()
    return z.sigmoid().detach()


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """(A, ...), (B, ...) -> (A, B): over all pixels and colours."""
    a, b = (F.normalize(x.flatten(1) - x.flatten(1).mean(1, keepdim=True)) for x in (a, b))
    return a @ b.T


def rows(root: str | None, counted: dict[str, list[Outcome]]) -> Iterator[str]:
    """The table, measured line by line; all that was measured, by kind of images, into `counted`."""
    yield HEADINGS
    yield "|---" * HEADINGS.count(" | ") + "|---|"
    for setting in SETTINGS:
        if setting.source != "digits" and root is None:
            continue
        everything = SOURCES[setting.source](root=root).train()
        for images in setting.images:
            found = []
            for seed in SEEDS:
                order = torch.randperm(len(everything), generator=torch.Generator().manual_seed(seed))
                found.append(attack(setting, everything.select(order[:images]), seed))
            counted.setdefault(f"{setting.title}{setting.kind}", []).extend(found)
            cells = [
                f"{found[0].features:,}",
                setting.held(images),
                "; ".join(f"{one.rank:,}" for one in found),
                str(setting.starts),
                str(setting.steps),
                "; ".join(str(one.rebuilt) for one in found),
                "; ".join(f"{one.best:.3f}" for one in found),
                f"{fmean(one.mean for one in found):.2f}",
                f"{fmean(one.seconds for one in found):.0f}",
            ]
            yield f"| {setting.title} | {' | '.join(cells)} |"


def counts(found: dict[str, list[Outcome]]) -> list[str]:
    """Uploads and images, by what the disclosure check does."""
    lines = [
        "| images | map | uploads | the check stops | images rebuilt from these | from the others |",
        "|---" * 6 + "|",
    ]
    for title, outcomes in found.items():
        stopped = [one for one in outcomes if one.stopped]
        passed = [one for one in outcomes if not one.stopped]
        rebuilt = [
            f"{sum(one.rebuilt for one in some)} of {sum(one.images for one in some):,}" for some in (stopped, passed)
        ]
        lines.append(f"| {title} | {len(outcomes)} | {len(stopped)} | {' | '.join(rebuilt)} |")
    return lines


def write(path: Path, begin: str, lines: list[str], end: str) -> None:
    before, rest = path.read_text("utf-8").split(begin)
    table = "\n".join(lines)
    path.write_text(f"{before}{begin}\n\n{table}\n\n{end}{rest.split(end)[1]}", "utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    lines: list[str] = []
    outcomes: dict[str, list[Outcome]] = {}
    for line in rows(sys.argv[1] if len(sys.argv) > 1 else None, outcomes):
        print(line, flush=True)
        lines.append(line)
    write(PAGE, BEGIN, lines, END)
    write(SECURITY, COUNTED, counts(outcomes), COUNTED_END)
