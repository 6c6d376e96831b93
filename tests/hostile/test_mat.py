"""A MATLAB file may hold anything; its headers are checked before scipy reads the two arrays of SVHN."""

import struct
import zlib

import numpy as np
import pytest
from fuzz_data import MAT_HEADER, mat_seed, matrix_seed
from scipy.io import savemat
from source_files import pixels, write_svhn

from mooring.data._svhn import Svhn

CELL, BYTES = 1, 9  # MATLAB's classes


def element(kind, content):
    return struct.pack("<II", kind, len(content)) + content + bytes(-len(content) % 8)


def head(name, kind, *sides):
    """All of an array but its data."""
    return (
        element(6, struct.pack("<II", kind, 0))
        + element(5, struct.pack(f"<{len(sides)}i", *sides))
        + element(1, name.encode())
    )


def array(name, kind, *sides, data=b""):
    return element(14, head(name, kind, *sides) + data)


def nested_cells(depth):
    """Cells in cells, the outermost called X; a reader that follows them dies."""
    inner = head("", CELL, 1, 1)
    sizes = [8 + len(inner)] * depth
    for i in range(1, depth):
        sizes[i] += sizes[i - 1]
    outer = [struct.pack("<II", 14, size - 8) + inner for size in reversed(sizes)]
    begin = head("X", CELL, 1, 1)
    return struct.pack("<II", 14, len(begin) + sizes[-1]) + begin + b"".join(outer)


LABELS = array("y", BYTES, 2, 1, data=element(2, b"\x01\x0a"))


def test_cells_in_cells_are_not_followed(rejected):
    content = MAT_HEADER + nested_cells(30_000) + LABELS
    rejected("mat", content, "X is no array of numbers (1, 1), not uint8 (32, 32, 3, N)", "mooring data fetch svhn")


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (array("X", BYTES, 32, 32, 3, 2**20, data=struct.pack("<II", 2, 3 * 2**30)), "is declared as"),
        (array("X", BYTES, 32, 32, 3, 2**20, data=element(2, bytes(64))), "is declared as"),
        (array("X", BYTES, 32, 32, 3, 2, data=struct.pack("<II", 2, 2**31 - 1)), "not an SVHN file"),
        (array("X", BYTES, 32, 32, 3, 2, data=element(2, bytes(64))), "not an SVHN file"),
        (array("X", BYTES, 32, 32, 3, -1, data=element(2, bytes(64))), "is declared as"),
        (array("X", 6, 2**26, 4, data=struct.pack("<II", 2, 2**28)), "X is double"),
        (array("X" * 99, BYTES, 1, 2, data=element(2, bytes(2))), "X and y, each once"),
        (array("X", BYTES | 0x800, 32, 32, 3, 1, data=element(2, bytes(3072))), "X is no array of numbers"),  # complex
        (array("X", BYTES, 32, 32, 3, 1, data=element(14, bytes(3072))), "not an SVHN file"),
        (element(14, element(6, bytes(2**16))), "not an SVHN file"),
        (element(3, bytes(64)), "not an SVHN file"),
    ],
    ids=range(11),
)
def test_declared_sizes_are_checked_first(rejected, matrix, words, zipped):
    body = zlib.compress(matrix)
    content = struct.pack("<II", 15, len(body)) + body if zipped else matrix
    rejected("mat", MAT_HEADER + content + LABELS, words, megabytes=100)


def test_a_file_that_holds_a_variable_twice_is_rejected(rejected):
    rejected("mat", MAT_HEADER + LABELS * 2, "X and y, each once")
    image = array("X", BYTES, 32, 32, 3, 2, data=element(2, bytes(6144)))
    rejected("mat", MAT_HEADER + image + LABELS * 2, "X and y, each once")


def test_zip_bombs_are_not_unpacked(worker):
    squeeze = zlib.compressobj(1)
    bomb = squeeze.compress(array("X", BYTES, 32, 32, 3, 2, data=element(2, bytes(6144))))
    bomb += b"".join(squeeze.compress(bytes(2**20)) for _ in range(600)) + squeeze.flush()
    content = MAT_HEADER + struct.pack("<II", 15, len(bomb)) + bomb + LABELS
    assert worker.read("mat", content, 300 << 20).kind in ("refused", "other")


def test_variables_that_nobody_wants_are_passed_over(worker, tmp_path):
    good = mat_seed(False, tmp_path)
    plain = worker.read("mat", good)
    strange = array("cells", CELL, 1, 1, data=b"whatever")
    assert worker.read("mat", good[:128] + strange + good[128:]) == plain


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8"])
def test_arrays_are_read_as_they_were_written(tmp_path, dtype, zipped):
    write_svhn(tmp_path)
    images, labels = pixels(32, 32, 3, 2), np.array([[1], [10]], dtype)
    savemat(tmp_path / "train_32x32.mat", {"X": images, "y": labels, "one": 7}, do_compression=zipped)
    source = Svhn(str(tmp_path))
    assert source.overview().train == 2
    assert np.array_equal(source.train().images.numpy(), images.transpose(3, 2, 0, 1))
    assert source.train().labels.tolist() == [1, 0]


def test_a_checksum_that_is_wrong_is_noticed(rejected, tmp_path):
    zipped = zlib.compress(matrix_seed(tmp_path), 0)
    changed = bytearray(zipped)
    changed[3000] ^= 1
    rejected("mat", MAT_HEADER + struct.pack("<II", 15, len(zipped)) + bytes(changed) + LABELS, "not an SVHN file")
