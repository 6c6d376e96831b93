"""What `mooring check` finds and misses on prepared folders, and what a grouped split is worth.

    python studies/data_checks.py clean        findings on two sound sets of 1,500 images at three sites (goal: none)
    python studies/data_checks.py planted      the same with damaged, doubled, misspelt and augmented files
    python studies/data_checks.py leakage [SEEDS [SET]]

`leakage` writes 300 pictures of SET (default: cifar10) with four augmented copies of each into a folder, and trains on
it with test images chosen by name and grouped; both models are also asked about 600 pictures that nobody trained on.
Copies are turned by up to 15 degrees, shifted, mirrored, and of another brightness. All images are training images of
their sets.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import torch
from PIL import Image, ImageEnhance, ImageOps

from mooring import load, run_experiment
from mooring.check import DataCheck, check_folder
from mooring.data import SOURCES, ImageFolder, in_memory
from mooring.federation import assess, load_model

SETS = ("cifar10", "fashion_mnist")
SITES = ("north", "south", "east")
IMAGES, PLANTED = 1500, 20
PICTURES, COPIES, HELD_OUT = 300, 4, 600


def pictures(name: str, count: int, seed: int, skip: int = 0) -> Iterator[tuple[Image.Image, str]]:
    """Random training images and their classes."""
    source = SOURCES[name]().train()
    chosen = torch.randperm(len(source), generator=torch.Generator().manual_seed(seed))[skip : skip + count]
    some = in_memory(source.select(chosen))
    for image, label in zip(some.images[:], some.labels.tolist(), strict=True):
        yield Image.fromarray(image.permute(1, 2, 0).squeeze(2).numpy()), some.classes[label].replace("/", "-")


def write_sites(root: Path, name: str, seed: int) -> list[Path]:
    files = []
    for at, (picture, label) in enumerate(pictures(name, IMAGES, seed)):
        path = root / SITES[at % 3] / label / f"{at:05d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        picture.save(path)
        files.append(path)
    return files


def checked(root: Path) -> DataCheck:
    (experiment,) = load(overrides=["data.source=image_folder", f"data.root={root}"])
    assert isinstance(experiment.data, ImageFolder)
    return check_folder(experiment.data)


def changed(picture: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Turned, shifted, perhaps mirrored, and of another brightness."""
    if rng.random() < 0.5:
        picture = ImageOps.mirror(picture)
    shift = tuple(int(pixels) for pixels in rng.integers(-2, 3, 2))
    turned = picture.rotate(float(rng.uniform(-15, 15)), Image.Resampling.BICUBIC, translate=shift)
    return ImageEnhance.Brightness(turned).enhance(float(rng.uniform(0.8, 1.2)))


def clean() -> None:
    for name in SETS:
        with tempfile.TemporaryDirectory() as place:
            write_sites(Path(place), name, 1)
            found = checked(Path(place))
            kinds = ", ".join(f"{finding.kind} ({len(finding.files)})" for finding in found.findings) or "none"
            print(f"{name}: {found.images:,} images, findings: {kinds}", flush=True)


def planted() -> None:
    """PLANTED files of every kind; a file counts as found if a finding of the kind names it."""
    for name in SETS:
        with tempfile.TemporaryDirectory() as place:
            root, rng = Path(place), np.random.default_rng(1)
            write_sites(root, name, 1)
            folder = sorted((root / "east").iterdir())[-1]
            folder.rename(folder.with_name(folder.name.upper()))
            files = sorted(root.rglob("*.png"))
            order = iter(rng.permutation(len(files)).tolist())
            planted = {kind: PLANT[kind](root, files, order, rng) for kind in PLANT}
            found = checked(root)
            for kind, names in planted.items():
                kinds = kind.split("/")[0].split(" or ")
                rows = [set(row) for finding in found.findings if finding.kind in kinds for row in finding.files]
                hit = sum(any(wanted <= row for row in rows) for wanted in names)
                print(f"{name}, {kind}: {hit} of {len(names)} found", flush=True)
            copies = [wanted for names in planted.values() for wanted in names if len(wanted) > 1]
            known = {one for wanted in copies for one in wanted}
            false = [
                row
                for finding in found.findings
                if finding.kind in ("duplicate", "near-copy", "contradiction", "leakage")
                for row in finding.files
                if not set(row) & known
            ]
            print(f"{name}, pairs of copies that were not planted: {len(false)}", flush=True)
            print(f"{name}, misspelt class: {dict(found.mapping)}", flush=True)


def chosen(files: list[Path], order: Iterator[int], count: int = PLANTED) -> list[Path]:
    return [files[next(order)] for _ in range(count)]


def named(root: Path, *paths: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in paths}


def truncated(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    own = chosen(files, order)
    for path in own:
        path.write_bytes(path.read_bytes()[:200])
    return [named(root, path) for path in own]


def wrong_ending(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    own = chosen(files, order)
    for path in own:
        with Image.open(path) as picture:
            kept = picture.convert("RGB")
        kept.save(path, "JPEG", quality=95)
    return [named(root, path) for path in own]


def constant(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    own = chosen(files, order)
    for path in own:
        Image.new("RGB", (32, 32), (int(rng.integers(256)), 40, 40)).save(path)
    return [named(root, path) for path in own]


def unusual_size(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    own = chosen(files, order)
    for path in own:
        with Image.open(path) as picture:
            kept = picture.resize((8, 8) if rng.random() < 0.5 else (400, 400))
        kept.save(path)
    return [named(root, path) for path in own]


def transparent(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    own = chosen(files, order)
    for path in own:
        with Image.open(path) as picture:
            kept = picture.convert("RGBA")
        kept.save(path)
    return [named(root, path) for path in own]


def doubled(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    pairs = []
    for path in chosen(files, order):
        twin = path.with_name(f"{path.stem}-again.png")
        twin.write_bytes(path.read_bytes())
        pairs.append(named(root, path, twin))
    return pairs


def in_two_classes(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    pairs = []
    for path in chosen(files, order):
        others = sorted(folder for folder in path.parent.parent.iterdir() if folder != path.parent)
        twin = others[int(rng.integers(len(others)))] / f"{path.stem}-twin.png"
        twin.write_bytes(path.read_bytes())
        pairs.append(named(root, path, twin))
    return pairs


def augmented(root: Path, files: list[Path], order: Iterator[int], rng: np.random.Generator) -> list[set[str]]:
    pairs = []
    for path in chosen(files, order):
        twin = path.with_name(f"{path.stem}-changed.png")
        with Image.open(path) as picture:
            changed(picture, rng).save(twin)
        pairs.append(named(root, path, twin))
    return pairs


PLANT = {
    "unreadable": truncated,
    "ending": wrong_ending,
    "constant": constant,
    "size": unusual_size,
    "mode": transparent,
    "duplicate or leakage": doubled,
    "contradiction": in_two_classes,
    "near-copy or leakage": augmented,
}


def leakage(seeds: int, name: str) -> None:
    rows: dict[str, list[float]] = {}
    for seed in range(1, seeds + 1):
        with tempfile.TemporaryDirectory() as place:
            root, rng = Path(place), np.random.default_rng(seed)
            for at, (picture, label) in enumerate(pictures(name, PICTURES, seed)):
                folder = root / "images" / SITES[at % 3] / label
                folder.mkdir(parents=True, exist_ok=True)
                picture.save(folder / f"{at:05d}.png")
                for copy in range(COPIES):
                    changed(picture, rng).save(folder / f"{int(rng.integers(10**8)):08d}-{copy}.png")
            for at, (picture, label) in enumerate(pictures(name, HELD_OUT, seed, PICTURES)):
                folder = root / "new" / label
                folder.mkdir(parents=True, exist_ok=True)
                picture.save(folder / f"{at:05d}.png")
            for split in ("by-name", "grouped"):
                words = ["data.source=image_folder", f"data.root={root / 'images'}", f"data.split={split}"]
                out = root / split
                (experiment,) = load(overrides=[*words, *SMALL, f"seed={seed}", f"out={out}"])
                result = run_experiment(experiment)
                warned = "have a copy among the training images" in (out / "events.jsonl").read_text("utf-8")
                new = assess(load_model(out / "model.mooring"), root / "new").right.share or 0.0
                print(f"seed {seed}, {split}: {result.accuracy:.3f}, new {new:.3f}", file=sys.stderr, flush=True)
                rows.setdefault(f"{split}: test accuracy of the run", []).append(result.accuracy)
                rows.setdefault(f"{split}: accuracy on new pictures", []).append(new)
                rows.setdefault(f"{split}: too high by", []).append(result.accuracy - new)
                rows.setdefault(f"{split}: the run warned", []).append(float(warned))
    for row, values in rows.items():
        spread = f" +- {stdev(values):.3f}" if len(values) > 1 else ""
        print(f"{row}: {fmean(values):.3f}{spread} (n = {len(values)})", flush=True)


SMALL = ("data.size=32", "data.channels=3", "encoder=none", "fusion.map.filters=64", "engine.workers=1")


if __name__ == "__main__":
    commands = {"clean": clean, "planted": planted}
    match sys.argv[1:]:
        case ["leakage", *rest] if len(rest) <= 2:
            leakage(int(rest[0]) if rest else 3, rest[1] if len(rest) == 2 else "cifar10")
        case [command] if command in commands:
            commands[command]()
        case _:
            sys.exit(__doc__)
