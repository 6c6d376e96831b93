"""Pictures are measured before they are decoded; one that is too large is an error and never left out."""

import io
import os
import struct
import zlib

import numpy as np
import pytest
from fuzz_data import run_lengths
from fuzzing import Worker
from medical_files import write_dicom
from PIL import Image
from source_files import pixels, write_images

from mooring.config import load
from mooring.data._image_folder import ImageFolder
from mooring.data._images import DataWarning
from mooring.data._pixels import decode_image
from mooring.errors import DataError


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth=16):
    """A PNG that says how large it is, and a few rows of it."""
    begin = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + begin + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")


def bmp(width, height):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 154, 0, 0, 54) + header + bytes(100)


def jpeg(width, height):
    """The frame header of a picture of 8 x 8 says something else."""
    made = io.BytesIO()
    Image.new("L", (8, 8)).save(made, "JPEG")
    content = bytearray(made.getvalue())
    frame = content.index(b"\xff\xc0")
    content[frame + 5 : frame + 9] = struct.pack(">HH", height, width)
    return bytes(content)


def webp(kind, body):
    body = b"WEBP" + kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(body)) + body


def saved(suffix, picture, **options):
    made = io.BytesIO()
    picture.save(made, suffix, **options)
    return made.getvalue()


def tiff(width, height):
    """A TIFF of 8 x 8 whose tags say something else."""
    content = bytearray(saved("TIFF", Image.new("L", (8, 8))))
    for tag, side in ((256, width), (257, height)):
        place = content.index(struct.pack("<HHI", tag, 4, 1)) + 8
        content[place : place + 4] = struct.pack("<I", side)
    return bytes(content) + bytes(1)


CANVAS = (16_382).to_bytes(3, "little")
LARGE = {
    "png": png(13_300, 13_300),
    "bmp": bmp(20_000, 20_000),
    "jpeg": jpeg(65_000, 65_000),
    "webp": webp(b"VP8 ", bytes(3) + b"\x9d\x01\x2a" + struct.pack("<HH", 16_383, 16_383)),
    "webp, lossless": webp(b"VP8L", b"\x2f" + struct.pack("<I", 16_382 | 16_382 << 14)),
    "bmp, run lengths": webp(b"VP8X", bytes(4) + CANVAS + CANVAS),  # whatever a file is called
    "tiff": tiff(20_000, 20_000),
    "tiff, 16 bits": tiff(20_000, 20_000)[:-1],
    "gif": b"GIF89a" + struct.pack("<HH", 65_000, 65_000) + bytes(3) + b"," + bytes(20),
}


@pytest.mark.parametrize("target", LARGE)
def test_a_picture_above_the_limit_is_an_error_before_it_is_decoded(rejected, target):
    rejected(target, LARGE[target], "pixels, above data.max_pixels=100000000", "raise data.max_pixels", megabytes=20)


def test_a_side_longer_than_any_camera_makes_is_rejected(rejected):
    rejected("bmp", bmp(90_000_000, 1), "90000000 x 1 pixels", "65535", megabytes=20)


def test_too_large_is_an_error_even_where_broken_is_skipped(tmp_path):
    write_images(tmp_path / "train" / "a", 2)
    write_images(tmp_path / "test" / "a", 1)
    (tmp_path / "train" / "a" / "large.png").write_bytes(LARGE["png"])
    source = ImageFolder(str(tmp_path), size=8)
    with pytest.raises(DataError, match=r"large\.png has 13300 x 13300 pixels"):
        source.train()
    (tmp_path / "train" / "a" / "large.png").write_bytes(LARGE["png"][:20])
    with pytest.warns(DataWarning, match=r"1 of 3 images cannot be read: .*large\.png"):
        assert len(source.train()) == 2


def test_limits_can_be_set_and_are_no_part_of_what_an_experiment_is(tmp_path):
    for part in ("train", "test"):
        write_images(tmp_path / part / "a", 3)
    with pytest.raises(DataError, match=r"12 x 12 pixels, above data\.max_pixels=143"):
        ImageFolder(str(tmp_path), max_pixels=143).train()
    with pytest.raises(
        DataError, match=r"one image of 3 x 64 x 64 needs 12288 bytes of memory, above data\.max_bytes=12287"
    ):
        ImageFolder(str(tmp_path), size=64, max_bytes=12_287).train()
    assert len(ImageFolder(str(tmp_path), size=64, max_bytes=12_288, max_pixels=144).train()) == 3
    settings = ["data.source=image_folder", f"data.root={tmp_path}"]
    [usual], [limited] = load(overrides=settings), load(overrides=[*settings, "data.max_pixels=9", "data.max_bytes=8"])
    assert (limited.data.max_pixels, limited.data.max_bytes) == (9, 8)
    assert usual.fingerprint() == limited.fingerprint()


def test_a_size_that_no_memory_holds_is_an_error_before_any_file_is_read(tmp_path):
    for part in ("train", "test"):
        (tmp_path / part / "a").mkdir(parents=True)
        (tmp_path / part / "a" / "broken.png").touch()
    with pytest.raises(DataError, match=r"one image of 3 x 10000000 x 10000000 needs .* above data\.max_bytes"):
        ImageFolder(str(tmp_path), size=10**7).train()
    with pytest.raises(DataError, match="do not fit into memory"):
        ImageFolder(str(tmp_path), size=10**7, max_bytes=10**30).train()


def test_a_file_with_more_bytes_than_its_pixels_could_need_is_rejected(tmp_path):
    path = tmp_path / "a.webp"
    path.write_bytes(LARGE["webp"])
    os.truncate(path, 2**40)  # a hole: it takes no room on the disk
    with pytest.raises(DataError, match=r"1099511627776 bytes, 8 for a pixel, above data\.max_pixels"):
        decode_image(path, 8, 3)


def test_a_scan_above_the_limit_is_an_error_and_a_frame_larger_than_its_header_is_not_decoded(rejected, tmp_path):
    pydicom = pytest.importorskip("pydicom")
    path = write_dicom(tmp_path / "a.dcm", pixels(8, 8), 8, "MONOCHROME2")
    dataset = pydicom.dcmread(path)
    dataset.file_meta.TransferSyntaxUID = pydicom.uid.JPEGBaseline8Bit
    dataset.PixelData = pydicom.encaps.encapsulate([jpeg(65_000, 65_000)])
    dataset["PixelData"].is_undefined_length = True
    dataset.save_as(path)
    rejected("dicom", path.read_bytes(), "1 of 2 images cannot be read", megabytes=50)
    dataset.Rows = dataset.Columns = 20_000
    dataset.save_as(path)
    rejected("dicom", path.read_bytes(), "20000 x 20000 pixels, above data.max_pixels=100000000", megabytes=50)


PICTURES = {  # made when they are asked for: a second, which every collection would pay
    "png": lambda: saved("PNG", Image.new("RGBA", (3000, 3000))),
    "jpeg": lambda: saved("JPEG", Image.new("RGB", (3000, 3000))),
    "bmp, run lengths": lambda: run_lengths(5000, 5000, b"\xff\x09" * 19 + b"\x9b\x03"),
    "webp": lambda: saved("WEBP", Image.new("RGB", (3000, 3000))),
    "tiff": lambda: saved("TIFF", Image.new("RGB", (3000, 3000)), compression="tiff_lzw"),
    "tiff, 16 bits": lambda: saved("TIFF", Image.new("I;16", (5000, 5000)), compression="tiff_deflate"),
    "gif": lambda: saved("GIF", Image.new("L", (6000, 6000))),
}


@pytest.fixture(scope="module")
def fresh(worker):
    """A process that has read nothing yet: what one has freed it may use again, whatever the limit."""
    started = Worker()
    yield started
    started.close()


@pytest.mark.parametrize("target", PICTURES)
def test_a_picture_that_does_not_fit_into_memory_is_an_error_that_says_so(fresh, target):
    content = PICTURES[target]()
    outcome = fresh.read(target, content, 20 << 20, apart=True)
    assert outcome.kind == "refused", outcome.text
    assert "do not fit into memory; " in outcome.text
    assert fresh.read(target, content, apart=True).kind == "read"


def test_deep_greys_take_little_more_room_than_their_pixels(worker):
    content = saved("PNG", Image.fromarray(np.full((3000, 3000), 7777, np.uint16)))
    assert worker.read("png, 16 bits", content, 80 << 20).kind == "read"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "I;16", "P"])
@pytest.mark.parametrize("channels", [1, 3])
def test_pictures_converted_in_bands_are_the_same(tmp_path, monkeypatch, mode, channels):
    colours = Image.fromarray(pixels(40, 30, 4))
    deep = Image.fromarray(pixels(40, 30).astype(np.uint16) * 257)
    picture = deep if mode == "I;16" else colours.convert(mode)
    picture.save(tmp_path / "a.png", **({"transparency": b"\x00\x80"} if mode == "P" else {}))
    whole = decode_image(tmp_path / "a.png", 16, channels)
    monkeypatch.setattr("mooring.data._pixels.BAND", 100)
    assert np.array_equal(decode_image(tmp_path / "a.png", 16, channels), whole)


def test_the_limit_of_pillow_is_neither_used_nor_changed(tmp_path, monkeypatch):
    Image.new("L", (12, 12)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    assert decode_image(tmp_path / "a.png", 8, 1).shape == (1, 8, 8)
    assert Image.MAX_IMAGE_PIXELS == 10


def test_a_pipe_among_the_pictures_is_named_and_not_waited_for(tmp_path):
    for part in ("train", "test"):
        write_images(tmp_path / part / "a", 1)
    os.mkfifo(tmp_path / "train" / "a" / "pipe.png")
    with pytest.warns(DataWarning, match=r"1 of 2 images cannot be read: .*pipe\.png"):
        assert len(ImageFolder(str(tmp_path), size=8).train()) == 1


def test_pixels_whose_checksum_is_wrong_are_not_read(rejected):
    content = bytearray(saved("PNG", Image.fromarray(pixels(9, 12, 3)), compress_level=0))
    place = content.index(b"IDAT") + 100
    content[place] ^= 1
    rejected("png", bytes(content), "cannot be read")


def test_names_that_would_break_the_line_are_spelled(cli, tmp_path):
    for part in ("train", "test"):
        write_images(tmp_path / part / "a", 1)
    (tmp_path / "train" / "a" / "two\nlines\x1b[31m.png").touch()
    code, out, err = cli("run", "data.source=image_folder", f"data.root={tmp_path}", "data.corrupt=error")
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "two\\nlines\\x1b[31m.png; replace them" in err
