"""`mooring serve` under load on loopback: what is lost, how long an answer takes, and whether memory grows."""

import http.client
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.memory import PROGRAM, environment, quietly, write_images
from benchmarks.process import own_share
from benchmarks.table import Goal, Say, Table
from mooring.version import VERSION

REQUESTS, AT_ONCE, WARM = 200, 8, 40
IMAGES = 150  # that the model is made from
MODELS = {"no encoder, 32 x 32 pixels": ("encoder=none", "data.size=32"), "the default encoder, 260 x 260 pixels": ()}


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    lost, growth = 0, 0.0
    with TemporaryDirectory() as place:
        folder = Path(place)
        write_images(folder / "images", IMAGES)
        pictures = [path.read_bytes() for path in sorted((folder / "images").rglob("*.jpg"))]
        for number, (name, settings) in enumerate(MODELS.items()):
            words = ("run", "data=image_folder", "data.root=images", "partition=sites", *settings)
            quietly(*words, f"out=run{number}", "--quiet", folder=folder)
            with serving(folder, f"run{number}") as (port, pid):
                asked(port, pictures, WARM)
                before, began = own_share(pid), monotonic()
                seconds = asked(port, pictures, REQUESTS)
                taken, after = monotonic() - began, own_share(pid)
            missing = REQUESTS - len(seconds)
            lost, growth = lost + missing, max(growth, after / before)
            middle, slow = quantiles(seconds, n=20)[9], quantiles(seconds, n=20)[18]
            rows.append((name, REQUESTS, missing, REQUESTS / taken, 1000 * middle, 1000 * slow, before, after))
            say(f"{name}: {missing} lost, {REQUESTS / taken:.0f} a second, {before:.0f} MiB, then {after:.0f} MiB")
    about = (
        f"{REQUESTS} JPEG images of 224 x 224 pixels over loopback, {AT_ONCE} at a time, each over its own "
        f"connection, after {WARM} others. The client is on the same cores. "
        f"Measured with mooring {VERSION}."
    )
    columns = ("model", "requests", "lost", "a second", "median ms", "95 % ms", "MiB before", "MiB after")
    goals = [
        Goal("requests lost", 0, lost, True),
        Goal("memory after the requests, over before", 1.05, growth, True),
    ]
    return Table("Serving", about, columns, rows, goals)


@contextmanager
def serving(folder: Path, model: str) -> Iterator[tuple[int, int]]:
    """The port and the process of a server."""
    words = [*PROGRAM, "serve", model, "--port", "0"]
    with subprocess.Popen(words, cwd=folder, env=environment(folder), stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split()[0]
            yield int(address.rpartition(":")[2]), process.pid
        finally:
            process.terminate()


def asked(port: int, pictures: list[bytes], count: int) -> list[float]:
    """Seconds of every request that was answered with a class."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda number: answer(port, pictures[number % len(pictures)]), range(count)))
    return [seconds for seconds in answers if seconds is not None]


def answer(port: int, picture: bytes) -> float | None:
    connection, began = http.client.HTTPConnection("127.0.0.1", port, timeout=60), monotonic()
    try:
        connection.request("POST", "/predict", picture, {"Content-Type": "image/jpeg"})
        response = connection.getresponse()
        whole = b'"class"' in response.read()
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return monotonic() - began if response.status == 200 and whole else None
