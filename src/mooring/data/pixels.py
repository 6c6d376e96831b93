"""Pixels as people keep them, in pictures of any size and mode or in arrays, brought to the bytes of images here."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mooring.data.limits import MAX_PIXELS, regular
from mooring.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # nothing that starts an interpreter, whatever a file's name says

DEEP_GREYS = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N"})
WIDEST, HEADERS = 8, 2**20  # bytes of a pixel that is not compressed, and of all that is not pixels
LONGEST_SIDE = 65_535
BAND = 2**20  # pixels converted at once
MOST_CHANNELS = 4


def decode(path: Path, size: int, channels: Literal[1, 3], max_pixels: int = MAX_PIXELS) -> NDArray[np.uint8]:
    """The picture upright, resized with its aspect ratio kept and cropped about its centre: (channels, size, size).

    A `DataError` is a picture that is too large to be looked at, a `MemoryError` one that does not fit; anything else
    that is raised, one that is broken.
    """
    from PIL import Image, ImageOps

    mode = "L" if channels == 1 else "RGB"
    with _opened(path, max_pixels) as picture:
        ImageOps.exif_transpose(picture, in_place=True)
        plain = _opaque(_eight_bits(picture))
        plain = plain if plain.mode in ("L", mode) else plain.convert(mode)
        square = ImageOps.fit(plain, (size, size), Image.Resampling.BICUBIC).convert(mode)
    pixels = np.asarray(square, np.uint8)  # (size, size) or (size, size, 3)
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


@contextmanager
def _opened(path: Path, max_pixels: int) -> Iterator["Image"]:
    """The picture with its header read and nothing else; this is the only limit, Pillow's own would warn above it."""
    from PIL import Image

    if regular(path).st_size > WIDEST * max_pixels + HEADERS:
        raise _too_large(path, f"{path.stat().st_size} bytes, {WIDEST} for a pixel", max_pixels)
    before = Image.MAX_IMAGE_PIXELS
    try:
        Image.MAX_IMAGE_PIXELS = None
        _foresee(path, max_pixels)
        with Image.open(path, formats=FORMATS) as picture:
            _refuse_large(path, picture.size, max_pixels)
            if picture.format == "PNG":
                with Image.open(path, formats=FORMATS) as again:
                    again.verify()  # decoding does not look at the checksums of pixels
            yield picture
    finally:
        Image.MAX_IMAGE_PIXELS = before


def _foresee(path: Path, max_pixels: int) -> None:
    """A WebP decoder makes room for two canvases when a picture is opened, and does not say so when it cannot."""
    with path.open("rb") as file:
        width, height = _webp_canvas(file.read(30))
    _refuse_large(path, (width, height), max_pixels)
    np.empty(16 * width * height, np.uint8)  # of 18 bytes that a pixel takes in all


def _webp_canvas(head: bytes) -> tuple[int, int]:
    """Width and height of a WebP picture as its first 30 bytes have them (RFC 9649); zeros for any other format."""
    kind = head[12:16] if (head[:4], head[8:12]) == (b"RIFF", b"WEBP") else b""
    if kind == b"VP8X":  # with more than pixels
        return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
    if kind == b"VP8L":  # without loss
        sides = int.from_bytes(head[21:25], "little")
        return (sides & 0x3FFF) + 1, (sides >> 14 & 0x3FFF) + 1
    if kind == b"VP8 ":
        return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
    return 0, 0


def _refuse_large(path: Path, size: tuple[int, int], max_pixels: int) -> None:
    width, height = size
    if width * height > max_pixels:
        raise _too_large(path, f"{width} x {height} pixels", max_pixels)
    if max(size) > LONGEST_SIDE:
        raise DataError(
            f"{path} has {width} x {height} pixels; no side may exceed {LONGEST_SIDE}", "cut it, or remove it"
        )


def _too_large(path: Path, found: str, max_pixels: int) -> DataError:
    problem = f"{path} has {found}, above data.max_pixels={max_pixels}"
    return DataError(problem, "make it smaller, remove it, or raise data.max_pixels")


def _in_bands(picture: "Image", mode: str, convert: Callable[["Image"], "Image"]) -> "Image":
    """A conversion that needs room of its own, a few rows at a time."""
    from PIL import Image

    width, height = picture.size
    rows = max(1, BAND // width)
    if rows >= height:
        return convert(picture)
    whole = Image.new(mode, picture.size)
    for top in range(0, height, rows):
        whole.paste(convert(picture.crop((0, top, width, min(top + rows, height)))), (0, top))
    return whole


def _eight_bits(picture: "Image") -> "Image":
    """16-bit greys scaled to 8; converting their mode would cut all above 255 to white."""
    return _in_bands(picture, "L", _scaled) if picture.mode in DEEP_GREYS else picture


def _scaled(picture: "Image") -> "Image":
    from PIL import Image

    return Image.fromarray((np.asarray(picture, np.int64).clip(0, 65535) // 257).astype(np.uint8))


def _opaque(picture: "Image") -> "Image":
    """Transparent parts over white, as a page would show them; dropping alpha would bring up hidden colours."""
    if "A" not in picture.getbands() and "transparency" not in picture.info:
        return picture
    return _in_bands(picture, "RGB", _over_white)


def _over_white(picture: "Image") -> "Image":
    from PIL import Image

    layer = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def to_images(name: str, array: NDArray[Any]) -> NDArray[np.uint8]:
    """uint8 (N, C, H, W), from (N, H, W), (N, H, W, C) or (N, C, H, W) of uint8 or of floats in [0, 1]."""
    if array.size == 0:
        raise DataError(f"{name} is empty, {array.shape}", "save at least one image")
    return np.ascontiguousarray(_to_bytes(name, _channels_first(name, array)))


def _channels_first(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """The axis of 1 to 4 is the channels; where both could be, guessing would scramble every image."""
    if array.ndim == 3:
        return array[:, None]
    if array.ndim != 4:
        raise DataError(f"{name} has shape {array.shape}", "save it as (N, H, W), (N, H, W, C) or (N, C, H, W)")
    first, last = (array.shape[axis] <= MOST_CHANNELS for axis in (1, 3))
    if first == last:
        raise DataError(
            f"{name} has shape {array.shape}, where the channels may be {'first or last' if first else 'neither'}",
            f"save it as (N, C, H, W) with at most {MOST_CHANNELS} channels and larger sides",
        )
    return array if first else array.transpose(0, 3, 1, 2)


def _to_bytes(name: str, array: NDArray[Any]) -> NDArray[np.uint8]:
    if array.dtype == np.uint8:
        return array
    if array.dtype.kind != "f":
        raise DataError(f"{name} is {array.dtype}", "save uint8 from 0 to 255, or floats from 0 to 1")
    if not np.isfinite(array).all():
        image = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise DataError(f"{name}[{image}] holds NaN or infinity", "replace or leave out such images")
    low, high = float(array.min()), float(array.max())
    if low < 0 or high > 1:
        wrong = low if low < 0 else high
        raise DataError(f"{name} holds {wrong:g}", "scale floats to 0 to 1, or save uint8 from 0 to 255")
    return np.rint(array.astype(np.float32) * 255).astype(np.uint8)
