"""One codec: what was encoded comes back, and nothing else is ever taken for an upload."""

import json
import random
from dataclasses import replace
from hashlib import sha256

import pytest
import torch
from safetensors.torch import load, save

from mooring.errors import UploadError
from mooring.types import Upload
from mooring.uploads._codec import DTYPES, Limits, decode, decode_tensors, digest_of, encode, encode_tensors, limits_for

GOLDEN = "be1b2c659e9a22e42f6ce0ac959f2ce7127da65a2ee81dfaa9225e9e233e5617"
TENSORS = {
    "head.prototypes": torch.arange(6.0).view(2, 3) / 8,
    "encoder.0.num_batches_tracked": torch.tensor(4),
    "label_counts": torch.tensor([5, 7]),
    "moments-5c93c2a1.sums": torch.arange(4.0, dtype=torch.float64).view(2, 2),
    "nothing": torch.empty(0, 3),
}
UPLOAD = Upload(3, 1, 12, TENSORS, "Klinik Köln", "0123456789abcdef" * 4)
DATA = encode(UPLOAD)


def same(one, other):
    facts = [replace(upload, tensors={}) for upload in (one, other)]
    equal = one.tensors.keys() == other.tensors.keys() and all(
        torch.equal(tensor, other.tensors[name]) and tensor.dtype == other.tensors[name].dtype
        for name, tensor in one.tensors.items()
    )
    return facts[0] == facts[1] and equal


def rewritten(change, data=DATA):
    """The same bytes behind a header that somebody wrote by hand; its SHA-256 is not made right again."""
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + size])
    header = change(header) or header
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def test_an_upload_comes_back_as_it_was():
    assert same(decode(DATA), UPLOAD)
    assert encode(decode(DATA)) == DATA


def test_these_bytes_are_format_2_for_ever():
    assert sha256(DATA).hexdigest() == GOLDEN


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 4), (2, 3, 4)])
def test_every_type_and_shape_survives(dtype, shape):
    tensor = (torch.arange(torch.Size(shape).numel()) % 2).to(dtype).view(shape)
    back = decode(encode(Upload(0, 0, 1, {"t": tensor, "other": tensor.flatten()})))
    assert same(back, Upload(0, 0, 1, {"t": tensor, "other": tensor.flatten()}))


def test_how_a_tensor_lay_in_memory_does_not_matter():
    matrix = torch.arange(6.0).view(2, 3)
    assert encode(Upload(0, 0, 1, {"t": matrix.T})) == encode(Upload(0, 0, 1, {"t": matrix.T.contiguous()}))
    assert decode(encode(Upload(0, 0, 1, {"t": matrix.T}))).tensors["t"].is_contiguous()


def test_anybody_can_open_it_with_safetensors():
    tensors = load(DATA)
    assert all(torch.equal(tensor, TENSORS[name]) for name, tensor in tensors.items())
    theirs = save(TENSORS)
    body = slice(-sum(tensor.nbytes for tensor in TENSORS.values()), None)
    assert theirs[body] == DATA[body]


def test_facts_and_tensors_of_a_state_come_back():
    facts, tensors = decode_tensors(encode_tensors(TENSORS, {"client": 3, "uploads": {"0": "ab"}}))
    assert facts == {"format": 2, "client": 3, "uploads": {"0": "ab"}}
    assert tensors.keys() == TENSORS.keys()


def test_what_was_changed_on_the_way_is_rejected():
    rng = random.Random(0)
    for _ in range(600):
        data = bytearray(DATA)
        place = rng.randrange(len(data))
        match rng.randrange(5):
            case 0:
                data[place] ^= 1 << rng.randrange(8)
            case 1:
                del data[place:]
            case 2:
                data[place:place] = rng.randbytes(rng.randrange(1, 20))
            case 3:
                del data[place : place + rng.randrange(1, 20)]
            case 4:
                data[place : place + 4] = rng.choice((b"null", b"1e99", b"[[[[", b'{"a"', b"\xff\xff\xff\xff"))
        try:
            back = decode(bytes(data))
        except UploadError as error:
            assert len(str(error).splitlines()) == 1
            assert len(str(error)) < 300
        else:
            assert same(back, UPLOAD)


def entry(**changes):
    return lambda header: header["label_counts"].update(changes)


def facts(**changes):
    def change(header):
        told = json.loads(header["__metadata__"]["mooring"])
        header["__metadata__"]["mooring"] = json.dumps({**told, **changes})

    return change


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "upload: ends after 0 bytes"),
        (DATA[:5], "upload: ends after 5 bytes"),
        ((2**63).to_bytes(8, "little") + DATA[8:], "ends after .* within its header"),
        (rewritten(lambda _: b"{"), "header that cannot be read"),
        (rewritten(lambda _: b"[" * 100_000), "header that cannot be read"),
        (rewritten(lambda _: b"[1]"), "a list is not a mapping"),
        (rewritten(lambda _: '{"a": 1}'.encode("utf-16")), "header that cannot be read"),
        (rewritten(lambda _: b'{"a": 1, "a": 2}'), "a key is given twice"),
        (rewritten(lambda _: b'{"a": NaN}'), "NaN is not a number"),
        (rewritten(lambda h: {**h, "__metadata__": None}), "has no metadata"),
        (rewritten(lambda h: h["__metadata__"].update(mooring=3)), "has no metadata"),
        (rewritten(lambda h: {**h, "__metadata__": {"author": "x"}}), "was not written by mooring"),
        (rewritten(lambda h: {**h, "__metadata__": {"mooring": h["__metadata__"]["mooring"]}}), "has no SHA-256"),
        (rewritten(lambda h: h["__metadata__"].update(mooring="[]")), "facts that cannot be read"),
        (rewritten(facts(format=3)), "format 3; this version reads 2"),
        (rewritten(facts(format=True)), "format True"),
        (rewritten(facts(client="three")), "upload: has client='three'"),
        (rewritten(facts(client=-1)), "upload: has client=-1"),
        (rewritten(facts(samples=1.5)), "client 3: has samples=1.5"),
        (rewritten(facts(round=2**70)), "client 3: has round="),
        (rewritten(facts(site="a\nb")), r"client 3: has site='a\\nb'"),
        (rewritten(facts(job=None)), "client 3: has job=None"),
        (rewritten(facts(samples=13)), "client 3: was changed on the way"),
        (rewritten(entry(dtype="F8")), "client 3: tensor 'label_counts' has type 'F8'; known: "),
        (rewritten(entry(dtype=["I64"])), "has type"),
        (rewritten(entry(shape=[-2])), r"tensor 'label_counts' has shape \[-2\]"),
        (rewritten(entry(shape=[2.0])), "has shape"),
        (rewritten(entry(shape=[1] * 9)), "has shape"),
        (rewritten(entry(shape=[3])), "has 16 bytes for shape"),
        (rewritten(entry(shape=[2**62, 2**62, 0])), "has shape"),
        (rewritten(entry(shape=[10**9, 10**9])), "has 16 bytes for shape"),
        (rewritten(entry(data_offsets=[9, 25])), "lies at 9 to 25, not from 8 on"),
        (rewritten(entry(data_offsets=[24, 8])), "lies at"),
        (rewritten(entry(data_offsets=[8])), r"at \[8\]"),
        (rewritten(entry(data_offsets=[8, 1e400])), "at "),
        (rewritten(entry(more=1)), "described by"),
        (rewritten(lambda h: {**h, "x": 3}), "described by 3"),
        (rewritten(lambda h: {**h, "x" * 300: h["nothing"]}), "has a tensor whose name has 300 letters"),
        (rewritten(lambda h: {k: v for k, v in h.items() if k != "head.prototypes"}), "lies at|bytes of tensors"),
        (DATA + b"x", "bytes of tensors"),
        (DATA[:-1], "bytes of tensors"),
        (DATA[:-1] + b"x", "was changed on the way"),
    ],
)
def test_what_is_no_upload_is_rejected_in_one_line(data, message):
    with pytest.raises(UploadError, match=message) as told:
        decode(data)
    assert len(str(told.value).splitlines()) == 1


def test_a_byte_that_is_neither_true_nor_false_is_rejected():
    def forged(header):
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        facts = {"mooring": header["__metadata__"]["mooring"]}
        header["__metadata__"]["sha256"] = digest_of(entries, facts, [b"\x02"])

    data = rewritten(forged, encode(replace(UPLOAD, tensors={"t": torch.tensor([True])})))
    with pytest.raises(UploadError, match="client 3: tensor 't' holds neither true nor false"):
        decode(data[:-1] + b"\x02")


def test_limits_are_those_of_the_expected_upload():
    limits = limits_for({name: tensor.to("meta") for name, tensor in TENSORS.items()})
    assert same(decode(DATA, limits), UPLOAD)
    longest = replace(UPLOAD, site="\N{ANCHOR}\N{SAILBOAT}" * 50 + '"' * 100, samples=2**62, client=2**40)
    assert same(decode(encode(longest), limits), longest)
    data_bytes = sum(tensor.nbytes for tensor in TENSORS.values())
    assert limits.bytes - limits.header_bytes - 8 == data_bytes
    with pytest.raises(UploadError, match="has 6 tensors and may have 5"):
        decode(encode(replace(UPLOAD, tensors={**TENSORS, "z": torch.empty(0)})), limits)
    with pytest.raises(UploadError, match=r"upload: has \d+ bytes and may have"):
        decode(encode(replace(UPLOAD, tensors={**TENSORS, "z": torch.zeros(1000, dtype=torch.float64)})), limits)
    with pytest.raises(UploadError, match=r"has a header of \d+ bytes and may have one of 16"):
        decode(DATA, Limits(header_bytes=16))


def test_what_cannot_travel_is_told_before_it_leaves():
    with pytest.raises(UploadError, match=r"tensor 'z' holds torch.complex64; known: I64"):
        encode(replace(UPLOAD, tensors={"z": torch.zeros(1, dtype=torch.complex64)}))
    with pytest.raises(UploadError, match="client 3: the name of its site"):
        encode(replace(UPLOAD, site="x" * 201))
