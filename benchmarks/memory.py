"""Peak memory of `mooring run` and `mooring train` on generated image files: python -m benchmarks.memory 500 2000

The arguments are numbers of images. Files are JPEG of 224 pixels a side, two sites, default settings: the encoder takes
images of 260 x 260 pixels. Memory is the largest sum over all processes of a command, what they share counted once, and
the peak of its largest process.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep

import numpy as np
from PIL import Image

from benchmarks.process import below, own_share

SIDE = 224
SITES, CLASSES = ("north", "south"), ("bright", "dark")
MOST = 1536.0  # MiB
PROGRAM = (sys.executable, "-c", "from mooring.cli import program; program()")


def main(words: list[str]) -> int:
    """1 if a command takes more memory than it may."""
    largest = 0.0
    print("images  command  seconds  MiB of all processes  MiB of the largest process")
    for count in map(int, words):
        with TemporaryDirectory() as place:
            folder = Path(place)
            write_images(folder / "images", count)
            for name, command in commands(folder).items():
                seconds, together, alone = watched(command, folder)
                print(f"{count:6}  {name:7}  {seconds:7.0f}  {together:20.0f}  {alone:26.0f}", flush=True)
                largest = max(largest, together)
    return int(largest > MOST)


def commands(folder: Path) -> dict[str, list[str]]:
    """A simulation with both sites, and the training of a site that has all images."""
    quietly("plan", f"--classes={','.join(CLASSES)}", "--sites=all,other", "--out=job.mooring", folder=folder)
    run = ["run", "data=image_folder", "data.root=images", "out=run", "--quiet"]
    train = ["train", "job.mooring", "--data=images/north", "--site=all", "--yes"]
    return {"run": run, "train": train}


def quietly(*words: str, folder: Path) -> None:
    subprocess.run([*PROGRAM, *words], cwd=folder, env=environment(folder), check=True, stdout=subprocess.DEVNULL)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "MOORING_HOME": str(folder / "home")}


def watched(words: list[str], folder: Path) -> tuple[float, float, float]:
    """Seconds of a command, MiB of all its processes together, and of the largest one."""
    began, together, alone = monotonic(), 0.0, 0.0
    process = subprocess.Popen([*PROGRAM, *words], cwd=folder, env=environment(folder), stdout=subprocess.DEVNULL)
    while process.poll() is None:
        pids = [process.pid, *below(process.pid)]
        together = max(together, sum(map(own_share, pids)))
        alone = max(alone, *map(peak_of, pids))
        sleep(0.25)
    if process.returncode:
        raise SystemExit(f"mooring {' '.join(words)} ended with {process.returncode}")
    return monotonic() - began, together, alone


def peak_of(pid: int) -> float:
    """MiB, the largest resident set of a process so far."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 1024


def write_images(root: Path, count: int) -> None:
    """Blotches, brighter in one class than in the other; all images but a hundred are those of the first site."""
    rng = np.random.default_rng(1)
    for number in range(count):
        label, site = CLASSES[number % 2], SITES[int(number < 100)]
        folder = root / site / label
        folder.mkdir(parents=True, exist_ok=True)
        blotches = Image.fromarray(rng.integers(0, 200, (14, 14, 3), dtype=np.uint8))
        picture = blotches.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        picture.point(lambda value, more=20 * (number % 2): value + more).save(folder / f"{number:06}.jpg")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
