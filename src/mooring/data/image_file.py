"""One picture of any size and mode, brought to a square of a few bytes."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from PIL.Image import Image

SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp")
FORMATS = ("PNG", "JPEG", "WEBP", "BMP")  # nothing that starts an interpreter, whatever a file's name says

DEEP_GREYS = frozenset({"I", "I;16", "I;16L", "I;16B", "I;16N"})


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
