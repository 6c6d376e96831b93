"""Twenty hospitals: folders of large images through `mooring`, and the memory that it takes."""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import numpy as np
from PIL import Image

from benchmarks.process import apart, memory_watched
from benchmarks.table import Goal, Say, Table
from mooring import load, run_experiment

SITES, EACH = 20, 60
SMALLEST, LARGEST = 224, 1024  # pixels a side
CLASSES = {"coarse": 0.15, "fine": 0.30}  # of a texture: radians for a pixel
MOST = 2048.0  # MiB
PATIENT = r"data.group=^([^/]+)/.*/(P\d+)_"


def measure(say: Say) -> Table:
    with TemporaryDirectory() as folder:
        write_hospitals(Path(folder) / "hospitals")
        say(f"{SITES * EACH} images written")
        accuracy, seconds, memory = apart(federated, folder).value
    say(f"accuracy {accuracy:.3f}, {memory:.0f} MiB")
    about = (
        f"{SITES} folders of {EACH} images, {SMALLEST} to {LARGEST} pixels a side, PNG, JPEG and TIFF, two classes, "
        "split by patient; `mooring` with its encoder at 224 pixels. Memory is the sum over all processes."
    )
    rows: list[tuple[object, ...]] = [(SITES * EACH, accuracy, seconds, memory)]
    goals = [Goal("MiB of all processes together", MOST, memory, True)]
    return Table("Folders: twenty hospitals", about, ("images", "accuracy", "seconds", "MiB"), rows, goals)


def federated(folder: str) -> tuple[float, float, float]:
    """Accuracy, seconds and MiB; runs in a process of its own."""
    words = ["data.source=image_folder", f"data.root={folder}/hospitals", "partition=sites", PATIENT]
    (experiment,) = load(overrides=[*words, f"out={folder}/run"])
    with memory_watched() as largest:
        began = monotonic()
        accuracy = run_experiment(experiment).accuracy
        seconds = monotonic() - began
    return accuracy, seconds, largest()


def write_hospitals(root: Path) -> None:
    """Stripes over blotches and noise; four images of every patient."""
    rng = np.random.default_rng(1)
    for site in range(SITES):
        for number in range(EACH):
            label = list(CLASSES)[number % len(CLASSES)]
            folder = root / f"site{site:02d}" / label
            folder.mkdir(parents=True, exist_ok=True)
            save(texture(CLASSES[label], rng), folder / f"P{number // 4:03d}_{number}", number // 2 % 4)


def texture(frequency: float, rng: np.random.Generator) -> np.ndarray:
    height, width = (int(side) for side in rng.integers(SMALLEST, LARGEST + 1, 2))
    blotches = Image.fromarray(rng.integers(0, 256, (24, 24), dtype=np.uint8)).resize((width, height))
    y, x = np.mgrid[0:height, 0:width]
    angle = rng.uniform(0, np.pi)
    stripes = 50 * np.sin(frequency * (x * np.cos(angle) + y * np.sin(angle)))
    noise = rng.normal(0, 8, (height, width))
    mixed: np.ndarray = 0.5 * np.asarray(blotches, np.float32) + 64 + stripes + noise
    return mixed.clip(0, 255)


def save(pixels: np.ndarray, path: Path, kind: int) -> None:
    if kind == 3:
        Image.fromarray((pixels * 257).astype(np.uint16)).save(path.with_suffix(".tif"), compression="tiff_lzw")
    else:
        ending = (".png", ".jpg", ".tif")[kind]
        Image.fromarray(pixels.astype(np.uint8)).save(path.with_suffix(ending))
