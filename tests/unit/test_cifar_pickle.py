"""A pickle may bring data and nothing else."""

import contextlib
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from source_files import pixels, python2_pickle

from mooring.data._cifar_pickle import read_pickle
from mooring.errors import DataError

ENCODE = b"c_codecs\nencode\n"
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntU\x01btR"


def written(folder: Path, content: bytes) -> Path:
    path = folder / "batch"
    path.write_bytes(content)
    return path


def rejection(folder: Path, content: bytes) -> str:
    path = written(folder, content)
    with pytest.raises(DataError) as caught:
        read_pickle(path, "fetch it again")
    assert str(path) in caught.value.problem
    assert caught.value.remedy == "fetch it again"
    return caught.value.problem


class Evil:
    def __init__(self, call: object, *args: object) -> None:
        self.call, self.args = call, args

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return self.call, self.args


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_evil_pickle_runs_nothing(tmp_path: Path, protocol: int) -> None:
    marker = tmp_path / "ran"
    for evil in (
        Evil(os.system, f"touch {marker}"),
        Evil(eval, f"open({str(marker)!r}, 'w')"),
        Evil(os.mkdir, str(marker)),
        Evil(getattr, [], "append"),
    ):
        problem = rejection(tmp_path, pickle.dumps({"data": evil}, protocol=protocol))
        assert f".{evil.call.__name__}, which no data file needs" in problem
        assert not marker.exists()


@pytest.mark.parametrize(
    "content",
    [
        b"(S'true'\nios\nsystem\n.",  # INST
        b"(cos\nsystem\nS'true'\no.",  # OBJ
        b"cos\nsystem\n)\x81.",  # NEWOBJ
        b"\x80\x04\x8c\x02os\x8c\x06system\x93.",  # STACK_GLOBAL
    ],
)
def test_every_way_to_name_a_callable_is_closed(tmp_path: Path, content: bytes) -> None:
    assert re.search(r"os.system|opcode (INST|OBJ|NEWOBJ)", rejection(tmp_path, content))


def test_dotted_names_do_not_lead_through_admitted_modules(tmp_path: Path) -> None:
    assert "numpy.os.system" in rejection(tmp_path, b"\x80\x04\x8c\x05numpy\x8c\x09os.system\x93.")
    assert "numpy.load" in rejection(tmp_path, b"cnumpy\nload\n.")


@pytest.mark.parametrize("codec", [b"rot13", b"zlib_codec", b"utf-8", b"idna"])
def test_encode_is_no_door_to_other_codecs(tmp_path: Path, codec: bytes) -> None:
    assert codec.decode() in rejection(tmp_path, ENCODE + b"(Vabc\nV" + codec + b"\ntR.")


@pytest.mark.parametrize(
    "name", ["numpy.core.multiarray\n_reconstruct", "numpy\nndarray", "numpy\ndtype", "_codecs\nencode"]
)
def test_admitted_callables_cannot_be_altered(tmp_path: Path, name: str) -> None:
    before = python2_pickle(pixels(2, 8), "labels", [1, 2])
    for change in (b"}Vx\nI1\nsb.", b"(N}V_left\nI1\nstb.", b"(N}V__setstate__\nI1\nstb."):
        rejection(tmp_path, f"c{name}\n".encode() + change)
    assert read_pickle(written(tmp_path, before), "")["labels"] == [1, 2]


def test_arrays_of_objects_are_rejected(tmp_path: Path) -> None:
    for protocol in (0, 2, 4):
        evil = np.array([Evil(os.system, "true")], dtype=object)
        problem = rejection(tmp_path, pickle.dumps({"data": evil}, protocol=protocol))
        assert "dtype 'O8'" in problem or "system" in problem
    assert "dtype 'O8'" in rejection(tmp_path, pickle.dumps({"data": np.array([None, {}], dtype=object)}, protocol=2))


@pytest.mark.parametrize(
    "state",
    [
        b"(I1\n(I1\ntV|O\nI00\n(lt",  # no dtype, no bytes
        b"(I1\n(I-1\ntcnumpy\ndtype\n(Vu1\ntRI00\nU\x01at",  # a negative side
        b"(I1\n(I9\ntcnumpy\ndtype\n(Vu1\ntRI00\nU\x01at",  # more sides than bytes
        b"(I1\nt",
        b"I7\n",
    ],
)
def test_array_states_that_make_no_sense_are_rejected(tmp_path: Path, state: bytes) -> None:
    rejection(tmp_path, b"(dVdata\n" + ARRAY + state + b"bs.")


@pytest.mark.parametrize(
    "content", [b"", b".", b"hello", b"\x80\x02]q\x00.", b"I1\n.", b"\x80\x02}K\x01K\x02s.", b"Pid\n."]
)
def test_rubbish_is_a_data_error(tmp_path: Path, content: bytes) -> None:
    rejection(tmp_path, content)


def test_missing_file_is_a_data_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="absent"):
        read_pickle(tmp_path / "absent", "fetch it")


def test_wild_memo_index_allocates_nothing(tmp_path: Path) -> None:
    assert "memo index 2147483647" in rejection(tmp_path, b"\x80\x02}r\xff\xff\xff\x7f.")


def test_truncation_and_flipped_bytes_never_escape_as_other_errors(tmp_path: Path) -> None:
    whole = python2_pickle(pixels(2, 8), "labels", [1, 2])
    rng = np.random.default_rng(0)
    for cut in range(0, len(whole) - 1, 3):
        rejection(tmp_path, whole[:cut])
    for _ in range(600):
        broken = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 4)):
            broken[place] = rng.integers(0, 256)
        with contextlib.suppress(DataError):
            read_pickle(written(tmp_path, bytes(broken)), "")


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("dtype", ["u1", "<i8", ">i4"])
def test_plain_data_survives_every_protocol(tmp_path: Path, protocol: int, dtype: str) -> None:
    grid = np.asfortranarray(np.arange(12).reshape(3, 4).astype(dtype))
    read = read_pickle(written(tmp_path, pickle.dumps({b"data": grid, "labels": [1, 2], "empty": b""}, protocol)), "")
    array = read["data"]
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.dtype(dtype)
    assert np.array_equal(array, grid)
    assert read["labels"] == [1, 2]
    assert read["empty"] == b""


def test_both_spellings_of_numpy_are_read(tmp_path: Path) -> None:
    old = pickle.dumps({"data": pixels(2, 8)}, protocol=2).replace(b"numpy._core.", b"numpy.core.")
    new = old.replace(b"numpy.core.", b"numpy._core.")
    for content in (old, new):
        assert np.array_equal(read_pickle(written(tmp_path, content), "")["data"], pixels(2, 8))  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4])
def test_every_byte_and_letter_of_latin1_is_read_as_it_was_written(tmp_path: Path, protocol: int) -> None:
    batch = {"bytes": bytes(range(256)), "text": "".join(map(chr, range(256))), "names": [b"a\xff", "é"]}
    assert read_pickle(written(tmp_path, pickle.dumps(batch, protocol)), "") == batch
