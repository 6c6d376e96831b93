"""Accuracy against epsilon: what noise that hides every single image costs, on real images.

    python studies/privacy.py digits            one set; the digits need nothing
    python studies/privacy.py cifar10 ROOT      ROOT has the official files of CIFAR-10, or of SVHN for svhn; hours of
                                                a busy machine, and minutes for cifar10-small and svhn-small
    python studies/privacy.py write             the tables of studies/reports/noise.md from whatever is finished

Five sites with as many images each, drawn at random: noise depends on how many sites there are, not on who has what.
Accuracy is that of images set apart from the training sets; no test image is looked at. Features and finished cells
below runs/privacy are not computed again.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from mooring.data import SOURCES, batches
from mooring.fusion import FrozenFeatures, LinearHeadFusion, Server
from mooring.models import (
    Blueprint,
    DigitsNet,
    EncoderFeatures,
    FeatureMap,
    RandomFilters,
    RawPrototypes,
    ResNet8,
    feature_reduction,
    reduce_features,
)
from mooring.record import write_atomically
from mooring.seeds import generator
from mooring.types import Upload
from mooring.uploads import NoisedMoments, Privacy

SETS: dict[str, tuple[str, FeatureMap, int, int]] = {  # the source, the map, images to fit, images set apart
    "digits": ("digits", RandomFilters(), 1150, 287),
    "cifar10-small": ("cifar10", EncoderFeatures(), 4_000, 1_000),
    "svhn-small": ("svhn", EncoderFeatures(), 4_000, 1_000),
    "cifar10": ("cifar10", EncoderFeatures(), 20_000, 4_000),
    "svhn": ("svhn", EncoderFeatures(), 20_000, 4_000),
}
SITES = 5
SEEDS = (1, 2, 3)
EPSILONS = (10.0, 3.0, 1.0, 0.5)
DELTA = 1e-5
SIZES = (32, 64, 128)
HOME = Path(__file__).parents[1]
RUNS = Path("runs/privacy")
PAGE = HOME / "studies/reports/noise.md"
BEGIN, END = "<!-- accuracy against epsilon -->", "<!-- end -->"


def blueprint_of(name: str, root: str | None) -> Blueprint:
    source = SOURCES[SETS[name][0]](root=root)
    shape, classes = source.image_shape(), tuple("0123456789")
    assert shape is not None
    backbone = DigitsNet() if name == "digits" else ResNet8()
    return Blueprint(backbone, RawPrototypes(), shape, classes, source.mean, source.std)


def features_of(name: str, root: str | None) -> dict[str, Tensor]:
    """Features and labels of as many training images as are used, drawn once."""
    path = RUNS / f"{name}.safetensors"
    if not path.exists():
        source, feature_map, fit, apart = SETS[name]
        images = SOURCES[source](root=root).train()
        chosen = images.select(torch.randperm(len(images), generator=generator(0, "privacy"))[: fit + apart])
        phi = feature_map.build(blueprint_of(name, root))
        x = torch.cat([phi(part) for part in batches(chosen.images, 256)])
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file({"x": x.float().contiguous(), "y": chosen.labels.contiguous()}, path)
    return load_file(path)


def cells() -> Iterator[tuple[int | None, float | None]]:
    """Size and epsilon; without a size the head as it is, without an epsilon hardly any noise."""
    yield None, None
    for size in SIZES:
        yield from ((size, epsilon) for epsilon in (None, *EPSILONS))


def measure(name: str, root: str | None) -> None:
    """Every cell that is not there yet."""
    _, feature_map, fit, _ = SETS[name]
    blueprint, held = blueprint_of(name, root), features_of(name, root)
    done = results(name)
    for seed in SEEDS:
        order = torch.randperm(len(held["y"]), generator=generator(seed, "privacy"))
        x, y = held["x"][order], held["y"][order]
        split = (x[:fit], y[:fit]), (x[fit:], y[fit:])
        for size, epsilon in cells():
            cell = f"{size} {epsilon} {seed}"
            if cell not in done:
                done[cell] = accuracy(feature_map, blueprint, *split, size, epsilon, seed)
                write_atomically(RUNS / f"{name}.json", json.dumps(done, indent=1).encode())
                print(f"{name}: size {size}, epsilon {epsilon}, seed {seed}: {done[cell]:.4f}", flush=True)


def accuracy(
    feature_map: FeatureMap,
    blueprint: Blueprint,
    fit: tuple[Tensor, Tensor],
    apart: tuple[Tensor, Tensor],
    size: int | None,
    epsilon: float | None,
    seed: int,
) -> float:
    """Of one head, on the images set apart."""
    predictor = released(feature_map, blueprint, fit, size, epsilon, seed)
    known = predictor.head(apart[0].double()).argmax(1)
    return (predictor.seen.nonzero()[:, 0][known] == apart[1]).double().mean().item()


def released(
    feature_map: FeatureMap,
    blueprint: Blueprint,
    fit: tuple[Tensor, Tensor],
    size: int | None,
    epsilon: float | None,
    seed: int,
) -> FrozenFeatures:
    """The model of these features; where no epsilon is named it is 100, which grants nothing."""
    y = F.one_hot(fit[1], blueprint.class_count).double()
    if size is None:
        head = LinearHeadFusion(feature_map, precision="float64")
        [part] = head.needs
        x = fit[0].double()
        rows, columns = torch.triu_indices(x.shape[1], x.shape[1])
        tensors = [y.sum(0).long(), y.T @ x, (x.T @ x)[rows, columns]]
        uploads = [Upload(0, 0, len(x), dict(zip(part.expected(blueprint), tensors, strict=True)))]
    else:
        privacy = Privacy(epsilon or 100.0, DELTA if epsilon else 0.09, size)
        head = LinearHeadFusion(feature_map, privacy=privacy)
        part = NoisedMoments(feature_map, privacy, f"seed {seed}".encode())
        u = reduce_features(fit[0], *feature_reduction(feature_map, blueprint, size))
        uploads = [Upload(k, 0, 1, part.of_features(u[k::SITES], y[k::SITES])) for k in range(SITES)]
    return head(uploads, Server(blueprint))


def results(name: str) -> dict[str, float]:
    path = RUNS / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def told(values: list[float]) -> str:
    """Mean and standard deviation."""
    spread = f" ± {stdev(values):.3f}" if len(values) > 1 else ""
    return f"{fmean(values):.3f}{spread}" if values else "-"


def tables() -> str:
    """One table for each set that is finished."""
    lines = []
    for name, (source, feature_map, fit, apart) in SETS.items():
        done = results(name)
        if not done:
            continue

        def cell(size: int | None, epsilon: float | None, done: dict[str, float] = done) -> str:
            return told([done[key] for seed in SEEDS if (key := f"{size} {epsilon} {seed}") in done])

        lines += [
            f"**{source}**, {fit:,} images of {SITES} sites, {feature_map.kind}; accuracy on {apart:,} others,"
            f" n = {len(SEEDS)}, delta = {DELTA:g}; without privacy {cell(None, None)}:",
            "",
            "| numbers per image | epsilon 100 | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in EPSILONS) + " |",
            "|---|---|" + "---|" * len(EPSILONS),
            *(f"| {size} | " + " | ".join(cell(size, e) for e in (None, *EPSILONS)) + " |" for size in SIZES),
            "",
        ]
    return "\n".join(lines)


def write() -> None:
    found = tables()
    if not found:
        sys.exit(f"nothing is finished in {RUNS}, so the page stays as it is")
    page = PAGE.read_text("utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{found}\n{END}{rest.split(END)[1]}", "utf-8")


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    elif len(sys.argv) in (2, 3) and sys.argv[1] in SETS:
        torch.set_num_threads(1)
        measure(sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else None)
    else:
        print(__doc__)
