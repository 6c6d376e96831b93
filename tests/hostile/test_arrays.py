"""An .npz file is looked at before it is unpacked: sizes, types, and what its directory says."""

import io
import os
import struct
import zipfile

import numpy as np
import pytest
from fuzz_data import npz_seed
from source_files import pixels, write_arrays

from mooring.config import load
from mooring.data._arrays import Arrays
from mooring.errors import DataError


def npy(described, data=b"", version=1):
    text = described.encode()
    return b"\x93NUMPY" + bytes((version, 0)) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def header(dtype="|u1", shape="(6, 9, 9)"):
    return f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}\n"


def bomb(megabytes):
    """Zeros, zipped a thousand times smaller."""
    made = io.BytesIO()
    rest = {"train_labels": np.zeros(megabytes * 1024, np.int64), "test_images": pixels(3, 32, 32)}
    np.savez_compressed(made, **rest, test_labels=np.zeros(3, np.int64))
    with (
        zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED) as archive,
        archive.open("train_images.npy", "w", force_zip64=True) as file,
    ):
        file.write(npy(header(shape=f"({megabytes * 1024}, 32, 32)")))
        for _ in range(megabytes):
            file.write(bytes(2**20))
    return made.getvalue()


def test_a_zip_bomb_is_rejected_before_it_is_unpacked(rejected):
    content = bomb(megabytes=48)
    assert len(content) < 100_000
    rejected("npz", content, "would unpack to", "np.savez", megabytes=40)


def test_the_limit_can_be_set_and_is_no_part_of_what_an_experiment_is(tmp_path):
    root = write_arrays(tmp_path / "a.npz")
    with pytest.raises(DataError, match=r"a\.npz needs \d+ bytes of memory, above data\.max_bytes=500"):
        Arrays(root, max_bytes=500).train()
    settings = ["data.source=arrays", f"data.root={root}"]
    [usual], [limited] = load(overrides=settings), load(overrides=[*settings, "data.max_bytes=9000"])
    assert limited.data.max_bytes == 9000
    assert limited.tree()["data"]["max_bytes"] == 9000
    assert usual.fingerprint() == limited.fingerprint()


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (npy(header(shape="(1000000, 1000, 1000)"), bytes(486)), "declared as uint8 (1000000, 1000, 1000)"),
        (npy(header(shape="(6, 9, 9)"), bytes(400)), "has 400 bytes"),
        (npy(header(dtype="<U99999999", shape="(6,)"), bytes(486)), "has 486 bytes"),
        (npy(header(dtype="|O"), bytes(486)), "neither numbers nor text"),
        (npy(header(dtype="<M8"), bytes(486)), "neither numbers nor text"),
        (
            npy("{'descr': [('a', 'O')], 'fortran_order': False, 'shape': (6,), }\n", bytes(486)),
            "neither numbers nor text",
        ),
        (npy("{" + "[" * 5000, bytes(486)), "no valid .npy header"),
        (npy("-" * 9000 + "1", bytes(486)), "no valid .npy header"),
        (npy(header() + " " * 20_000, bytes(486)), "no valid .npy header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff", "no valid .npy header"),
        (b"\x93NUMPY\x07\x00", "no valid .npy header"),
        (b"rubbish", "no valid .npy header"),
    ],
    ids=range(12),
)
def test_what_a_header_claims_is_checked_first(rejected, inside, words):
    rejected("npz, inside", inside, "train_images", words, megabytes=50)


def rewritten(content, **changed):
    """The same arrays in a zip that was made differently."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            new.writestr(zipfile.ZipInfo(name), old.read(name), **changed)
    return made.getvalue()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_zips_that_no_numpy_writes_are_rejected(rejected, tmp_path):
    good = npz_seed(tmp_path)
    rejected("npz", rewritten(good, compress_type=zipfile.ZIP_LZMA), "compressed by method 14")
    twice = io.BytesIO(good)
    with zipfile.ZipFile(twice, "a") as archive:
        archive.writestr("train_images.npy", npy(header(), bytes(486)))
    rejected("npz", twice.getvalue(), "train_images is there twice")


def test_a_directory_that_has_lost_an_array_is_noticed(rejected, tmp_path):
    good = bytearray(npz_seed(tmp_path))
    last = good.rfind(b"PK\x01\x02")
    previous = good.rfind(b"PK\x01\x02", 0, last)
    good[previous + 32 : previous + 34] = struct.pack("<H", len(good) - 22 - last)  # a comment that covers the last
    rejected("npz", bytes(good), "directory")


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "a.npz")
    with pytest.raises(DataError, match="is not a regular file"):
        Arrays(str(tmp_path / "a.npz")).train()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("fortran", [False, True])
def test_arrays_are_read_as_numpy_writes_them(tmp_path, compressed, fortran):
    images = np.asfortranarray(pixels(6, 9, 8)) if fortran else pixels(6, 9, 8)
    save = np.savez_compressed if compressed else np.savez
    labels = np.array([0, 1, 2, 0, 1, 2], ">i4")
    save(tmp_path / "a.npz", train_images=images, train_labels=labels, test_images=images, test_labels=labels, other=1)
    read = Arrays(str(tmp_path / "a.npz")).train()
    assert np.array_equal(read.images[:, 0].numpy(), images)
    assert read.labels.tolist() == labels.tolist()


def test_every_error_is_one_line_with_file_and_remedy_and_exit_code_2(cli, tmp_path):
    path = write_arrays(tmp_path / "a.npz", train_labels=np.array([0.5] * 6))
    code, out, err = cli("run", "data.source=arrays", f"data.root={path}")
    assert (code, out) == (2, "")
    assert err == f"error: {path}: train_labels is float64, not whole numbers; save train_labels.astype(np.int64)\n"
