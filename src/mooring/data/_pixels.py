"""Pixels as people keep them, in pictures of any size and mode or in arrays, brought to the bytes of images here."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mooring.data import _dicom as dicom
from mooring.data._dicom import Levels, levels_needed, to_bytes
from mooring.data._image_bytes import PictureFile, for_decoder
from mooring.data._limits import MAX_PIXELS, reject_large_picture, reject_long_file
from mooring.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff", ".gif", *dicom.SUFFIXES)
FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TIFF", "GIF")  # nothing that starts an interpreter, whatever a name says

PixelFit = Literal["crop", "pad", "stretch"]
DEEP_GREYS = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N", "F"})
BITS, PHOTOMETRIC, SAMPLE_FORMAT = 258, 262, 339  # tags of TIFF
UNSIGNED, WHITE_IS_ZERO = 1, 0  # values of two of them
BAND = 2**20  # pixels converted at once
MOST_CHANNELS = 4


@dataclass(frozen=True)
class PixelReading:
    """What is decided before a file becomes an image: how it is made square, and which of its values are black and
    white."""

    fit: PixelFit = "crop"
    levels: Levels | None = None

    def __post_init__(self) -> None:
        if self.levels is not None and (len(self.levels), len(set(self.levels))) != (2, 2):
            raise ValueError("levels are not two different values")


def decode_image(
    path: PictureFile,
    size: int,
    channels: Literal[1, 3],
    max_pixels: int = MAX_PIXELS,
    fit: PixelFit = "crop",
    levels: Levels | None = None,
) -> NDArray[np.uint8]:
    """The picture upright, its first frame or page, brought to (channels, size, size) as `fit` says.

    `levels` are the values that become black and white in pictures deeper than 8 bits. A `DataError` is a picture that
    is too large to be looked at or does not say what its values mean, a `MemoryError` one that does not fit; anything
    else that is raised, one that is broken.
    """
    mode = "L" if channels == 1 else "RGB"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # decoders warn about metadata that is not used here
        whole = _scanned(path, max_pixels, levels) if is_dicom(path) else _pictured(path, max_pixels, levels)
        plain = whole if whole.mode in ("L", mode) else whole.convert(mode)
        square = FITS[fit](plain, size).convert(mode)
    pixels = np.asarray(square, np.uint8)  # (size, size) or (size, size, 3)
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


@dataclass(frozen=True)
class PictureFacts:
    """What the header of a file says: its true format, its mode in Pillow's words, and its size."""

    format: str
    mode: str
    width: int
    height: int

    @property
    def deep(self) -> bool:
        """More than 8 bits for a pixel of one channel."""
        return self.mode in DEEP_GREYS


def picture_facts(path: Path) -> PictureFacts:
    """The header of a picture; whatever is wrong with it is raised, as by `decode_image`."""
    if is_dicom(path):
        return PictureFacts("DICOM", "DICOM", 0, 0)
    with warnings.catch_warnings(), _opened(path, MAX_PIXELS) as picture:
        warnings.simplefilter("ignore")
        transparent = "transparency" in picture.info and "A" not in picture.getbands()
        return PictureFacts(str(picture.format), f"{picture.mode}{'A' * transparent}", *picture.size)


def require_decoders(paths: Iterable[PictureFile]) -> None:
    """What is not installed is missed before the first picture is decoded."""
    if any(map(is_dicom, paths)):
        dicom.require()


def is_dicom(path: PictureFile) -> bool:
    return path.suffix.lower() in dicom.SUFFIXES


def _scanned(path: PictureFile, max_pixels: int, levels: Levels | None) -> "Image":
    from PIL import Image

    return Image.fromarray(dicom.read_dicom(path, max_pixels, levels))


def _pictured(path: PictureFile, max_pixels: int, levels: Levels | None) -> "Image":
    from PIL import ImageOps

    with _opened(path, max_pixels) as picture:
        scale = _scale(path, picture, levels) if picture.mode in DEEP_GREYS else None
        picture.load()
        ImageOps.exif_transpose(picture, in_place=True)
        return _opaque(_eight_bits(picture, scale))


def _crop(picture: "Image", size: int) -> "Image":
    """The largest square about the centre."""
    from PIL import Image, ImageOps

    return ImageOps.fit(picture, (size, size), Image.Resampling.BICUBIC)


def _pad(picture: "Image", size: int) -> "Image":
    """The whole picture, padded with black."""
    from PIL import Image, ImageOps

    return ImageOps.pad(picture, (size, size), Image.Resampling.BICUBIC)


def _stretch(picture: "Image", size: int) -> "Image":
    from PIL import Image

    return picture.resize((size, size), Image.Resampling.BICUBIC)


FITS: dict[PixelFit, Callable[["Image", int], "Image"]] = {"crop": _crop, "pad": _pad, "stretch": _stretch}


@contextmanager
def _opened(path: PictureFile, max_pixels: int) -> Iterator["Image"]:
    """The picture with its header read and nothing else; this is the only limit, Pillow's own would warn above it."""
    from PIL import Image

    reject_long_file(path, max_pixels)
    before = Image.MAX_IMAGE_PIXELS
    try:
        Image.MAX_IMAGE_PIXELS = None
        _foresee(path, max_pixels)
        with Image.open(for_decoder(path), formats=FORMATS) as picture:
            reject_large_picture(path, picture.size, max_pixels)
            if picture.format == "PNG":
                with Image.open(for_decoder(path), formats=FORMATS) as again:
                    again.verify()  # decoding does not look at the checksums of pixels
            yield picture
    finally:
        Image.MAX_IMAGE_PIXELS = before


def _foresee(path: PictureFile, max_pixels: int) -> None:
    """A WebP decoder makes room for two canvases when a picture is opened, and does not say so when it cannot."""
    with path.open("rb") as file:
        width, height = _webp_canvas(file.read(30))
    reject_large_picture(path, (width, height), max_pixels)
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


def _scale(path: PictureFile, picture: "Image", levels: Levels | None) -> Levels:
    """Black and white of a deep grey: as configured, else the full range of its bits; a TIFF may count from white."""
    if picture.format != "TIFF":
        return levels or (0, 65535)
    tags = picture.getexif()
    bits, sample, zero = (
        int(np.ravel(tags.get(tag, usual))[0]) for tag, usual in ((BITS, 16), (SAMPLE_FORMAT, 1), (PHOTOMETRIC, 1))
    )
    if levels is None and (bits > 16 or sample != UNSIGNED):
        raise levels_needed(path, f"{bits}-bit values that may be anything")
    black, white = levels or (0, 2**bits - 1)
    return (white, black) if zero == WHITE_IS_ZERO else (black, white)


def _eight_bits(picture: "Image", scale: Levels | None) -> "Image":
    """Deep greys scaled to 8 bits; converting their mode would cut all above 255 to white."""
    return picture if scale is None else _in_bands(picture, "L", lambda band: _scaled(band, scale))


def _scaled(picture: "Image", scale: Levels) -> "Image":
    from PIL import Image

    return Image.fromarray(to_bytes(np.asarray(picture, np.float64), *scale))


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
    return np.ascontiguousarray(_bytes_of(name, _channels_first(name, array)))


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


def _bytes_of(name: str, array: NDArray[Any]) -> NDArray[np.uint8]:
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
