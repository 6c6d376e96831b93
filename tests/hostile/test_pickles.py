"""A crafted pickle neither crashes the interpreter nor fills the memory: it is refused in one line."""

import pickle
import struct

import numpy as np
import pytest
from source_files import pixels

from mooring.data._cifar import Cifar100
from mooring.data._cifar_pickle import count_rows, read_pickle
from mooring.errors import DataError

ENCODE = b"c_codecs\nencode\nq\x00"
MILLION = 10**6


def long_text(length):
    return b"X" + struct.pack("<I", length) + b"a" * length


CRAFTED = [
    (b"\x80\x02})" + b"\x85" * MILLION + b"K\x01s.", "more than 100 tuples"),  # its hash would end the interpreter
    (b"\x80\x02}U\x01a)" + b"\x85" * MILLION + b"s.", "more than 100 tuples"),
    (b"\x80\x02}U\x01a" + b"](" * 400 + b"e" * 400 + b"s.", "opcodes"),
    (b"\x80\x02}q\x00U\x01ah\x00s.", "no 'data'"),  # a dictionary in itself
    (b"\x80\x02]q\x00h\x00a.", "a list, not a dictionary"),
    (b"\x80\x02}U\x01a(" + b"K\x01" * 99 + b"ts.", "no 'data'"),
    (b"\x80\x02" + b"(" * MILLION + b".", "opcodes"),
    (b"\x80\x02}U\x01aT\xff\xff\xff\x7fxs.", "2147483647 bytes"),
    (b"\x80\x02}U\x01aT\xff\xff\xff\xffxs.", "byte count < 0"),
    (b"\x80\x04}\x8c\x01a\x8e" + b"\xff" * 7 + b"\x0fxs.", "only 3 remain"),
    (b"}Va\nI" + b"9" * MILLION + b"\ns.", "digits"),
    (b"\x80\x02}U\x01a\x8b\xff\xff\xff\x7f", "not enough data"),  # a number of two gigabytes
    (b"\x80\x02}(NK\x01u.", "a NoneType instead of text"),
]


@pytest.mark.parametrize(("content", "words"), CRAFTED, ids=range(len(CRAFTED)))
def test_what_no_official_file_has_is_rejected_before_it_is_built(rejected, content, words):
    for target in ("cifar10", "cifar100, protocol 2"):
        rejected(target, content, words, "unpack the official archive again")


def test_one_text_encoded_many_times_over_is_rejected(rejected):
    content = ENCODE + long_text(MILLION) + b"q\x01U\x06latin1\x86q\x02(" + b"h\x00h\x02R" * 2000 + b"l."
    rejected("cifar10", b"\x80\x02" + content, "encoded many times", megabytes=20)


def test_wild_memo_indices_take_no_room(rejected):
    content = b"\x80\x02}" + b"".join(b"r" + struct.pack("<I", 2**32 - i) for i in range(1, 900)) + b"."
    rejected("cifar10", content, "memo index 4294967295", megabytes=20)


def test_tuples_nest_neither_in_calls_nor_in_states(rejected):
    """Each of these tuples is consumed by a call, and is the memo entry that the next one holds."""
    encode = ENCODE + b"X\x00\x00\x00\x00q\x01X\x06\x00\x00\x00latin1q\x02\x86q\x03R"
    nested = encode + b"h\x00h\x03h\x02\x86q\x03R" * 10_000
    rejected("cifar10", b"\x80\x02(" + long_text(10 * MILLION) + nested + b"l.", "_codecs.encode with", megabytes=100)
    dtype = b"cnumpy\ndtype\nq\x00X\x02\x00\x00\x00u1q\x01)\x86q\x02R"
    rejected("cifar10", b"\x80\x02" + dtype + b".", "a tuple in a tuple")


def test_a_file_larger_than_any_official_one_is_not_opened(tmp_path):
    path = tmp_path / "batch"
    with path.open("wb") as file:
        file.write(b"\x80\x02")
        file.truncate(2**30)  # a hole: it takes no room on the disk
    for read in (lambda: read_pickle(path, "fetch it"), lambda: count_rows(path, 3072, "fetch it")):
        with pytest.raises(DataError, match=r"1073741824 bytes.*fetch it"):
            read()


def test_rows_that_the_file_cannot_hold_are_not_counted(tmp_path):
    path = tmp_path / "batch"
    path.write_bytes(b"\x80\x02}U\x04data\x8a\x08" + b"\xff" * 7 + b"\x0fM\x00\x0c\x86s.")
    with pytest.raises(DataError, match="holds no array"):
        count_rows(path, 3072, "fetch it")


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_everything_that_an_official_file_has_is_read(tmp_path, protocol):
    names = [f"bos_taurus_s_{number:06d}.png".encode() for number in range(300)]
    batch = {b"filenames": names, b"batch_label": b"training batch 1 of 1", b"data": pixels(300, 3072)}
    batch |= {b"fine_labels": [number % 100 for number in range(300)], b"coarse_labels": [3] * 300}
    folder = tmp_path / "cifar-100-python"
    folder.mkdir()
    for part in ("train", "test"):
        (folder / part).write_bytes(pickle.dumps(batch, protocol))
    assert read_pickle(folder / "train", "")["filenames"] == names
    source = Cifar100(str(tmp_path))
    assert np.array_equal(source.train().images.flatten(1).numpy(), pixels(300, 3072))
    assert source.overview().train == 300
