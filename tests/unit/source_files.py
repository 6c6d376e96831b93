"""Tiny data sets written in the official formats, for tests of the sources that read them."""

import gzip
import pickle
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.io import savemat

Pixels = NDArray[np.uint8]


def pixels(*shape: int) -> Pixels:
    return np.random.default_rng(sum(shape)).integers(0, 256, shape, dtype=np.uint8)


def python2_pickle(data: Pixels, label_key: str, labels: list[int]) -> bytes:
    """A batch as Python 2 wrote the official files: byte strings throughout, numpy's old module name."""

    def text(value: str) -> bytes:
        return b"U" + bytes((len(value),)) + value.encode()

    dtype = (
        b"cnumpy\ndtype\n"
        + text("u1")
        + b"K\x00K\x01\x87R(K\x03"
        + text("|")
        + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    )
    dtype += b"K\x00tb"
    shape = b"".join(b"M" + struct.pack("<H", side) for side in data.shape) + b"\x86"
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85" + text("b") + b"\x87R(K\x01" + shape + dtype
    )
    array += b"\x89T" + struct.pack("<i", data.nbytes) + data.tobytes() + b"tb"
    listed = b"](" + b"".join(b"K" + bytes((label,)) for label in labels) + b"e"
    return b"\x80\x02}q\x01(" + text("data") + array + text(label_key) + listed + b"u."


def write_cifar10(root: Path, per_batch: int = 3) -> Path:
    """The official folder, as Python 2 wrote it."""
    folder = root / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    for number, name in enumerate([*(f"data_batch_{batch}" for batch in range(1, 6)), "test_batch"]):
        labels = [(number + i) % 10 for i in range(per_batch)]
        (folder / name).write_bytes(python2_pickle(pixels(per_batch, 3072), "labels", labels))
    return folder


def write_cifar100(root: Path, protocol: int = 2) -> Path:
    """The official folder, pickled again by Python 3, with text for keys."""
    folder = root / "cifar-100-python"
    folder.mkdir(parents=True)
    for name, count in (("train", 5), ("test", 2)):
        batch = {"data": pixels(count, 3072), "fine_labels": [99 - i for i in range(count)], "batch_label": b""}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=protocol))
    return folder


def idx(array: Pixels) -> bytes:
    return bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.tobytes()


def write_fashion(folder: Path, zipped: bool = True) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 12), ("t10k", 4)):
        for kind, array in (
            ("images-idx3", pixels(count, 28, 28)),
            ("labels-idx1", np.arange(count, dtype=np.uint8) % 10),
        ):
            name, content = f"{part}-{kind}-ubyte", idx(array)
            (folder / (name + ".gz" if zipped else name)).write_bytes(gzip.compress(content) if zipped else content)
    return folder


def write_svhn(folder: Path) -> Path:
    for part, count in (("train", 10), ("test", 4)):
        labels = np.arange(1, count + 1, dtype=np.uint8)[:, None]  # 1 to 10, and 10 is the digit 0
        savemat(folder / f"{part}_32x32.mat", {"X": pixels(32, 32, 3, count), "y": labels}, do_compression=True)
    return folder


def write_images(folder: Path, count: int, side: int = 12) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        Image.fromarray(pixels(side, side, 3)).save(folder / f"{number:03d}.png")
    return folder


def write_arrays(path: Path, **changed: object) -> str:
    arrays: dict[str, object] = {
        "train_images": pixels(6, 9, 9),
        "train_labels": np.array([0, 1, 2, 0, 1, 2]),
        "test_images": pixels(3, 9, 9),
        "test_labels": np.array([0, 1, 2]),
    }
    arrays.update(changed)
    np.savez(path, **{name: value for name, value in arrays.items() if value is not None})  # type: ignore[arg-type]
    return str(path)
