"""Pixels as people keep them, in pictures of any size and mode or in arrays, brought to the bytes of images here."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from mooring.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # nothing that starts an interpreter, whatever a file's name says

DEEP_GREYS = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N"})
MOST_CHANNELS = 4


def decode(path: Path, size: int, channels: Literal[1, 3]) -> NDArray[np.uint8]:
    """The picture upright, resized with its aspect ratio kept and cropped about its centre: (channels, size, size)."""
    from PIL import Image, ImageOps

    with Image.open(path, formats=FORMATS) as opened:
        upright = ImageOps.exif_transpose(opened)
        plain = _opaque(_eight_bits(upright)).convert("L" if channels == 1 else "RGB")
        square = ImageOps.fit(plain, (size, size), Image.Resampling.BICUBIC)
    pixels = np.asarray(square, np.uint8)  # (size, size) or (size, size, 3)
    return pixels[None] if channels == 1 else pixels.transpose(2, 0, 1)


def _eight_bits(image: "Image") -> "Image":
    """16-bit greys scaled to 8; converting their mode would cut all above 255 to white."""
    from PIL import Image

    if image.mode not in DEEP_GREYS:
        return image
    return Image.fromarray((np.asarray(image, np.int64).clip(0, 65535) // 257).astype(np.uint8))


def _opaque(image: "Image") -> "Image":
    """Transparent parts over white, as a page would show them; dropping alpha would bring up hidden colours."""
    from PIL import Image

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer)


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
