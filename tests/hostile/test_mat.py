"""A MATLAB file may hold anything; two arrays of numbers are read, and nothing is followed or believed."""

import struct
import zlib

import numpy as np
import pytest
from fuzz_data import MAT_HEADER, mat_seed, matrix_seed
from scipy.io import savemat
from source_files import pixels

from mooring.data.mat_file import read_mat, shapes

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


def test_cells_in_cells_are_not_followed(rejected):
    rejected("mat", MAT_HEADER + nested_cells(30_000), "X is no array of plain numbers", "mooring data fetch svhn")


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (array("X", BYTES, 32, 32, 3, 2**20, data=struct.pack("<II", 2, 3 * 2**30)), "bytes"),
        (array("X", BYTES, 32, 32, 3, 2**20, data=element(2, bytes(64))), "has shape"),
        (array("X", 6, 2**26, 4, data=struct.pack("<II", 2, 2**28)), "needs more than"),  # one byte stored, eight read
        (array("X", BYTES, -1, 2, data=element(2, bytes(64))), "shape (-1, 2)"),
        (array("X" * 99, BYTES, 1, 2, data=element(2, bytes(2))), "99 bytes where"),
        (array("X", BYTES | 0x800, 1, 2, data=element(2, bytes(2))), "no array of plain numbers"),
        (array("X", BYTES, 1, 2, data=element(14, bytes(2))), "no number"),
        (element(14, element(6, bytes(2**16))), "65536 bytes"),
        (element(3, bytes(64)), "no array"),
    ],
    ids=range(9),
)
def test_sizes_are_claims_that_are_checked_first(rejected, matrix, words, zipped):
    body = zlib.compress(matrix)
    content = struct.pack("<II", 15, len(body)) + body if zipped else matrix
    rejected("mat", MAT_HEADER + content, words, megabytes=100)


def test_zip_bombs_are_not_unpacked(rejected):
    squeeze = zlib.compressobj(1)
    bomb = squeeze.compress(array("X", BYTES, 32, 32, 3, 2, data=element(2, bytes(6144))))
    bomb += b"".join(squeeze.compress(bytes(2**20)) for _ in range(60)) + squeeze.flush()
    rejected("mat", MAT_HEADER + struct.pack("<II", 15, len(bomb)) + bomb, "without an end", megabytes=30)


def test_many_or_equal_variables_are_rejected(rejected):
    rejected("mat", MAT_HEADER + array("a", BYTES, 1, 1, data=element(2, b"1")) * 2, "'a' twice")
    many = b"".join(array(f"a{i}", BYTES, 1, 1, data=element(2, b"1")) for i in range(70))
    rejected("mat", MAT_HEADER + many, "more than 64 variables")


def test_variables_that_nobody_wants_are_passed_over(worker, tmp_path):
    good = mat_seed(False, tmp_path)
    plain = worker.read("mat", good)
    strange = array("cells", CELL, 1, 1, data=b"whatever")
    assert worker.read("mat", good[:128] + strange + good[128:]) == plain


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "i1", "<u2", "<i2", "<u4", "<i4", "<u8", "<i8", "<f4", "<f8"])
def test_arrays_are_read_as_they_were_written(tmp_path, dtype, zipped):
    path = tmp_path / "a.mat"
    written = {"X": pixels(3, 4, 2, 5).astype(dtype), "y": np.array([[1], [10]], dtype), "one": np.array([[7]], dtype)}
    savemat(path, written, do_compression=zipped)
    read = read_mat(path, written)
    assert shapes(path) == {name: values.shape for name, values in written.items()}
    for name, values in written.items():
        assert read[name].dtype == np.dtype(dtype)
        assert np.array_equal(read[name], values)


def test_the_other_byte_order_is_read(tmp_path):
    data = struct.pack(">II", 4, 4) + struct.pack(">HH", 1, 513) + bytes(4)
    flags = (
        struct.pack(">IIII", 6, 8, 11, 0)
        + struct.pack(">IIii", 5, 8, 1, 2)
        + struct.pack(">II", 1 << 16 | 1, 0x58 << 24)
    )
    matrix = struct.pack(">II", 14, len(flags + data)) + flags + data
    (tmp_path / "a.mat").write_bytes(MAT_HEADER[:124] + b"\x01\x00MI" + matrix)
    assert read_mat(tmp_path / "a.mat", ("X",))["X"].tolist() == [[1, 513]]


def test_a_checksum_that_is_wrong_is_noticed(rejected, tmp_path):
    zipped = zlib.compress(matrix_seed(tmp_path), 0)
    changed = bytearray(zipped)
    changed[3000] ^= 1
    rejected("mat", MAT_HEADER + struct.pack("<II", 15, len(zipped)) + bytes(changed), "incorrect data check")
