"""Data files as targets: pickles, arrays, MATLAB and IDX files, pictures.

A checksum hides what lies behind it: so the formats that have one are fuzzed twice, as they are (`npz`) and with
what is inside changed first and its checksum made afterwards (`npz inside`).
"""

import gzip
import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from fuzz_target import Target
from medical_files import write_dicom
from PIL import Image
from scipy.io import savemat
from source_files import (
    idx,
    pixels,
    write_arrays,
    write_cifar10,
    write_cifar100,
    write_fashion,
    write_images,
    write_svhn,
)

from mooring.data._arrays import Arrays
from mooring.data._cifar import Cifar10, Cifar100
from mooring.data._fashion_mnist import FashionMnist
from mooring.data._image_folder import ImageFolder
from mooring.data._images import ImageSet, Source
from mooring.data._svhn import Svhn

Reseal = Callable[[bytes], bytes]
MAT_HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


def digest(part: ImageSet) -> str:
    content = sha256(part.images.numpy().tobytes() + part.labels.numpy().tobytes())
    content.update(repr((part.images.shape, part.classes, part.sites)).encode())
    return content.hexdigest()


def load(place: str, source: Callable[[str], Source], reseal: Reseal, folder: Path, content: bytes) -> str:
    (folder / place).write_bytes(reseal(content))
    return digest(source(str(folder)).train())


def as_it_is(content: bytes) -> bytes:
    return content


def cifar10_seed(folder: Path) -> bytes:
    return (write_cifar10(folder, 2) / "data_batch_1").read_bytes()


def cifar100_seed(protocol: int, folder: Path) -> bytes:
    root = write_cifar100(folder, protocol)
    batch = {"data": pixels(2, 3072), "fine_labels": [1, 99], "filenames": [b"a.png", "b.png"], "batch_label": b""}
    (root / "train").write_bytes(pickle.dumps(batch, protocol))
    return (root / "train").read_bytes()


def npz_seed(folder: Path) -> bytes:
    names = {"classes": np.array(["cat", "dog", "cow"]), "train_sites": np.array(list("xxyyzz"))}
    return Path(write_arrays(folder / "a.npz", **names)).read_bytes()


def zipped_npz_seed(folder: Path) -> bytes:
    with np.load(io.BytesIO(npz_seed(folder))) as arrays:
        np.savez_compressed(folder / "a.npz", **arrays)
    return (folder / "a.npz").read_bytes()


def npy_seed(folder: Path) -> bytes:
    with zipfile.ZipFile(io.BytesIO(npz_seed(folder))) as archive:
        return archive.read("train_images.npy")


def in_npz(npy: bytes) -> bytes:
    """The other arrays, and these bytes for train_images, in a zip that is whole."""
    made = io.BytesIO()
    rest = {"train_labels": np.arange(6) % 3, "test_images": pixels(3, 9, 9), "test_labels": np.arange(3)}
    np.savez(made, **rest)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("train_images.npy", npy)
    return made.getvalue()


def mat_seed(zipped: bool, folder: Path) -> bytes:
    write_svhn(folder)
    savemat(folder / "train_32x32.mat", {"X": pixels(32, 32, 3, 2), "y": [[1], [10]]}, do_compression=zipped)
    return (folder / "train_32x32.mat").read_bytes()


def matrix_seed(folder: Path) -> bytes:
    """The first array of a file, without the header of the file."""
    content = mat_seed(False, folder)[128:]
    return content[: 8 + struct.unpack("<I", content[4:8])[0]]


def in_mat(matrix: bytes) -> bytes:
    labels = io.BytesIO()
    savemat(labels, {"y": np.array([[1], [10]], np.uint8)})
    zipped = zlib.compress(matrix)
    return MAT_HEADER + struct.pack("<II", 15, len(zipped)) + zipped + labels.getvalue()[128:]


def idx_seed(folder: Path) -> bytes:
    write_fashion(folder)
    return idx(pixels(12, 28, 28))


def gzip_seed(folder: Path) -> bytes:
    return gzip.compress(idx_seed(folder), mtime=0)


def picture_seed(suffix: str, picture: Callable[[], Image.Image], folder: Path, **options: object) -> bytes:
    for part in ("train", "test"):
        write_images(folder / part / "a", 1)
    path = folder / f"picture{suffix}"
    picture().save(path, **options)
    return path.read_bytes()


def run_lengths_seed(folder: Path) -> bytes:
    picture_seed(".bmp", grey, folder)
    return run_lengths(8, 8, b"\x06\x05\x02\x09")


def run_lengths(width: int, height: int, row: bytes) -> bytes:
    """A BMP of equal rows, each in run-length encoding, which Pillow reads and does not write."""
    rows = (row + b"\x00\x00") * height + b"\x00\x01"
    palette = b"".join(bytes((i, i, i, 0)) for i in range(16))
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(rows), 0, 0, 16, 0)
    return b"BM" + struct.pack("<IHHI", 118 + len(rows), 0, 0, 118) + header + palette + rows


def chunks_seed(folder: Path) -> bytes:
    """The chunks of a PNG, each without its checksum."""
    content = picture_seed(".png", colour, folder)
    parts, place = [], 8
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        parts.append(content[place : place + 8 + length])
        place += 12 + length
    return b"".join(parts)


def with_checksums(chunks: bytes) -> bytes:
    made, place = [PNG_MAGIC], 0
    while place + 8 <= len(chunks):
        (length,) = struct.unpack(">I", chunks[place : place + 4])
        body = chunks[place + 4 : place + 8 + length]
        made += [chunks[place : place + 4], body, struct.pack(">I", zlib.crc32(body))]
        place += 8 + length
    return b"".join(made)


def colour() -> Image.Image:
    return Image.fromarray(pixels(9, 12, 3))


def grey() -> Image.Image:
    return Image.fromarray(pixels(9, 12))


def clear() -> Image.Image:
    return Image.fromarray(pixels(9, 12, 4))


def deep() -> Image.Image:
    return Image.fromarray(pixels(9, 12).astype(np.uint16) * 257)


def dicom_seed(folder: Path) -> bytes:
    picture_seed(".png", grey, folder)
    windowed = {"RescaleSlope": 2, "RescaleIntercept": -1024, "WindowCenter": 40, "WindowWidth": 400}
    return write_dicom(folder / "a.dcm", pixels(9, 12).astype("<u2"), 12, "MONOCHROME2", **windowed).read_bytes()


def folder_of(root: str) -> Source:
    return ImageFolder(root, layout="split", size=8, corrupt="error")


def arrays_of(root: str) -> Source:
    return Arrays(f"{root}/a.npz")


def picture(suffix: str, make: Callable[[], Image.Image], checked: bool = False, **options: object) -> Target:
    place = partial(load, f"train/a/000{suffix}", folder_of, as_it_is)
    return Target(partial(picture_seed, suffix, make, **options), place, checked)


CIFAR100, NPZ, MAT, IDX = "cifar-100-python/train", "a.npz", "train_32x32.mat", "train-images-idx3-ubyte.gz"
TARGETS: dict[str, Target] = {
    "cifar10": Target(cifar10_seed, partial(load, "cifar-10-batches-py/data_batch_1", Cifar10, as_it_is)),
    "cifar100, protocol 0": Target(partial(cifar100_seed, 0), partial(load, CIFAR100, Cifar100, as_it_is)),
    "cifar100, protocol 2": Target(partial(cifar100_seed, 2), partial(load, CIFAR100, Cifar100, as_it_is)),
    "cifar100, protocol 4": Target(partial(cifar100_seed, 4), partial(load, CIFAR100, Cifar100, as_it_is)),
    "npz": Target(npz_seed, partial(load, NPZ, arrays_of, as_it_is), checked=True),
    "npz, compressed": Target(zipped_npz_seed, partial(load, NPZ, arrays_of, as_it_is), checked=True),
    "npz, inside": Target(npy_seed, partial(load, NPZ, arrays_of, in_npz)),
    "mat": Target(partial(mat_seed, False), partial(load, MAT, Svhn, as_it_is)),
    "mat, compressed": Target(partial(mat_seed, True), partial(load, MAT, Svhn, as_it_is), checked=True),
    "mat, inside": Target(matrix_seed, partial(load, MAT, Svhn, in_mat)),
    "idx": Target(idx_seed, partial(load, IDX, FashionMnist, as_it_is)),
    "idx, gzip": Target(gzip_seed, partial(load, IDX, FashionMnist, as_it_is), checked=True),
    "png": picture(".png", colour, checked=True),
    "png, 16 bits": picture(".png", deep, checked=True),
    "png, inside": Target(chunks_seed, partial(load, "train/a/000.png", folder_of, with_checksums)),
    "jpeg": picture(".jpg", colour),
    "webp": picture(".webp", colour),
    "webp, lossless": picture(".webp", clear, lossless=True),
    "bmp": picture(".bmp", colour),
    "tiff": picture(".tif", colour, compression="tiff_lzw"),
    "tiff, 16 bits": picture(".tif", deep),
    "gif": picture(".gif", grey),
    "bmp, run lengths": Target(run_lengths_seed, partial(load, "train/a/000.bmp", folder_of, as_it_is)),
}
if find_spec("pydicom") is not None:
    TARGETS["dicom"] = Target(dicom_seed, partial(load, "train/a/001.dcm", folder_of, as_it_is))
