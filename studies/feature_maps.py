"""Feature maps side by side, on images set aside of the training images; test images are never read.

    python studies/feature_maps.py DATA[:ROOT] IMAGES MAP...

A MAP is what `encoder=...` takes: none, a name, a file, or a tree such as '{kind: whitened-filters, threshold: 0.5}';
MAP+MAP puts the features of two side by side. Of so many random training images four fifths are fitted by the linear
head of `mooring`, from sums, and one fifth is looked at. Features are kept below runs/feature_maps, by map and images:
a comparison that was interrupted goes on.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import Tensor

from mooring import Experiment, load
from mooring.data import ImageSet, Source, batches
from mooring.fusion import Ridge, gaussian_scores, standardise_moments
from mooring.models import Blueprint
from mooring.schema import by_file_hash, digest, to_tree
from mooring.seeds import generator
from mooring.uploads import FEATURE_BATCH, SummedMoments

KEPT = Path("runs/feature_maps")
FITTED = 0.8


def compare(data: str, images: int, maps: Sequence[str]) -> None:
    for word in maps:
        parts, labels = zip(*(features(data, images, part) for part in word.split("+")), strict=True)
        x, y = torch.cat(parts, 1), labels[0]
        right, looked = accuracy(x, y)
        megabytes = 4 * (x.shape[1] * (x.shape[1] + 1) / 2 + x.shape[1] * (int(y.max()) + 1)) / 1e6
        print(f"{word}: {right:.4f} of {looked}, {x.shape[1]} numbers, {megabytes:.1f} MB", flush=True)


def features(data: str, images: int, word: str) -> tuple[Tensor, Tensor]:
    """(N, d) and labels of random training images, from disk where they have been computed before."""
    experiment = experiment_of(data, word)
    file = kept_file(experiment, KEPT, str(images))
    if not file.exists():
        keep(file, experiment, drawn(experiment.data, images))
    kept = load_file(file)
    return kept["features"], kept["labels"]


def experiment_of(data: str, word: str) -> Experiment:
    """DATA[:ROOT], and a map as `encoder=...` takes it, for images of its shape."""
    source, _, root = data.partition(":")
    words = [f"data.source={source}", *([f"data.root={root}"] if root else []), "method=mooring", f"encoder={word}"]
    (experiment,) = load(overrides=words)
    return experiment


def blueprint_of(experiment: Experiment, shape: tuple[int, int, int], classes: tuple[str, ...]) -> Blueprint:
    of = experiment.data
    return Blueprint(experiment.model, experiment.method.client.head, shape, classes, of.mean, of.std)


def kept_file(experiment: Experiment, folder: Path, what: str) -> Path:
    """Where features of some images under a map are kept."""
    phi = digest(to_tree(experiment.method.fusion.map, by_file_hash))[:12]
    return folder / f"{experiment.data.source}-{what}-{phi}.safetensors"


def drawn(source: Source, images: int) -> ImageSet:
    """So many random training images; more of them begin with fewer."""
    train = source.train()
    order = torch.randperm(len(train), generator=generator(0, "feature-maps", source.source))
    return train.select(order[:images])


def keep(file: Path, experiment: Experiment, images: ImageSet) -> None:
    """Compute the features of these images, and write them with the labels."""
    began, phi = process_time(), experiment.method.fusion.map
    module = phi.build(blueprint_of(experiment, images.shape, images.classes))
    built = process_time()
    x = torch.cat([module(part) for part in batches(images.images, FEATURE_BATCH)])
    each = (process_time() - built) / len(images)
    print(f"{phi}: built in {built - began:.1f} s, {1000 * each:.2f} ms of a core for each image", flush=True)
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_suffix(".draft")
    save_file({"features": x, "labels": images.labels.contiguous()}, draft)
    draft.replace(file)


def accuracy(x: Tensor, y: Tensor) -> tuple[float, int]:
    """Of the head that `mooring` computes from the sums of the first four fifths, on the rest."""
    fitted = int(FITTED * len(x))
    one_hot = F.one_hot(y).double()
    first, seen = x[:fitted].double(), one_hot[:fitted]
    moments = standardise_moments(SummedMoments(seen.sum(0), seen.T @ first, first.T @ first))
    scores = gaussian_scores(moments, Ridge()(moments))(x[fitted:].double()) + moments.shares.log()
    return float((scores.argmax(1) == y[fitted:]).double().mean()), len(x) - fitted


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    compare(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
