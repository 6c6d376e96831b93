"""Images with more than 8 bits per pixel: their black and white levels, and DICOM files.

Only the first frame of a DICOM file is read. No other field, such as a name or a date, is used.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mooring.data._image_bytes import PictureFile, for_decoder
from mooring.data._limits import reject_large_picture, reject_long_file
from mooring.errors import DataError, needed

if TYPE_CHECKING:
    from pydicom import Dataset

Levels = tuple[float, float]  # black, white; black may be the larger one
SUFFIXES = (".dcm", ".dicom")
DEFLATED = "1.2.840.10008.1.2.1.99"  # a transfer syntax that unpacks the whole file, to whatever size
DESCRIPTION = 2  # the group of tags about the file itself
BAND = 2**20  # pixels converted at once
SHARPEST = 1e-6  # a window of width 1 is a step


def to_bytes(values: NDArray[Any], black: float, white: float) -> NDArray[np.uint8]:
    """floor(255 (v - black) / (white - black)), cut to 0 to 255; of 16 bits, v // 257."""
    scaled = (np.asarray(values, np.float64) - black) * 255 / (white - black)
    shades: NDArray[np.uint8] = np.floor(scaled.clip(0, 255)).astype(np.uint8)
    return shades


def levels_needed(path: PictureFile, held: str) -> DataError:
    return DataError(f"{path} holds {held}", "say which are black and white: data.levels=[BLACK, WHITE]")


def require() -> Any:
    return needed("pydicom", "dicom")


def read_dicom(path: PictureFile, max_pixels: int, levels: Levels | None) -> NDArray[np.uint8]:
    """Grey (H, W) or colour (H, W, 3).

    x = slope v + intercept (or its modality table), then `levels`, else the first window of the file, else all that its
    bits can say, become black to white; of MONOCHROME1, white to black (DICOM PS3.3, C.7.6.3, C.11.1, C.11.2).
    """
    require()
    reject_long_file(path, max_pixels)
    header = _header(path)
    reject_large_picture(path, (int(header.Columns), int(header.Rows)), max_pixels)
    frame = _frame(path, header, max_pixels)
    if header.PhotometricInterpretation == "PALETTE COLOR":
        from pydicom.pixels.processing import apply_color_lut

        frame = apply_color_lut(frame, header)
        return to_bytes(frame, 0, np.iinfo(frame.dtype).max)
    if frame.ndim == 3:
        return to_bytes(frame, 0, 2 ** int(header.BitsStored) - 1)
    bytes_ = np.empty(frame.shape, np.uint8)
    rows = max(1, BAND // frame.shape[1])
    shade = _shade(path, header, levels)
    for top in range(0, len(frame), rows):
        bytes_[top : top + rows] = shade(frame[top : top + rows])
    return bytes_


def _header(path: PictureFile) -> "Dataset":
    from pydicom import dcmread
    from pydicom.filereader import read_dataset, read_preamble

    with path.open("rb") as file:  # the file's own description, which is never compressed
        read_preamble(file, False)
        facts = read_dataset(file, False, True, stop_when=lambda tag, *_: tag.group != DESCRIPTION)
    if facts.TransferSyntaxUID == DEFLATED:
        raise DataError(f"{path} is deflated as a whole", "export it uncompressed, or with compressed frames")
    return dcmread(for_decoder(path), stop_before_pixels=True)


def _frame(path: PictureFile, header: "Dataset", max_pixels: int) -> NDArray[Any]:
    """Its first frame as stored, colours as RGB. A compressed one has a size of its own, which Pillow compares."""
    from PIL import Image
    from pydicom.pixels.decoders.base import get_decoder
    from pydicom.pixels.utils import pixel_array

    syntax = header.file_meta.TransferSyntaxUID
    if syntax.is_compressed and not get_decoder(syntax).is_available:
        raise DataError(
            f"{path} is compressed as {syntax.name}, which cannot be decoded here",
            "export it uncompressed, or pip install pylibjpeg pylibjpeg-libjpeg pylibjpeg-openjpeg",
        )
    before = Image.MAX_IMAGE_PIXELS
    try:
        Image.MAX_IMAGE_PIXELS = max_pixels // 2  # twice as many are an error
        return pixel_array(for_decoder(path), index=0)
    finally:
        Image.MAX_IMAGE_PIXELS = before


def _shade(path: PictureFile, header: "Dataset", levels: Levels | None) -> Callable[[NDArray[Any]], NDArray[np.uint8]]:
    from pydicom.pixels.processing import apply_modality_lut

    black, white = levels or _window(path, header) or _range(path, header)
    if header.PhotometricInterpretation == "MONOCHROME1":
        black, white = white, black
    return lambda stored: to_bytes(apply_modality_lut(stored, header), black, white)


def _window(path: PictureFile, header: "Dataset") -> Levels | None:
    """The first window, from centre - width / 2 to centre + width / 2, one less by the usual LINEAR function."""
    if "WindowCenter" not in header or "WindowWidth" not in header:
        return None
    centre, width = (float(np.ravel(header[name].value)[0]) for name in ("WindowCenter", "WindowWidth"))
    function = header.get("VOILUTFunction", "LINEAR")
    if function not in ("LINEAR", "LINEAR_EXACT"):
        raise levels_needed(path, f"a window of the function {function}")
    if not (np.isfinite(centre) and 0 < width < np.inf):
        raise ValueError(f"a window of {centre} and {width}")
    steps = width - 1 if function == "LINEAR" else width
    return centre - width / 2, centre - width / 2 + max(steps, SHARPEST)


def _range(path: PictureFile, header: "Dataset") -> Levels:
    from pydicom.pixels.processing import apply_modality_lut

    if "BitsStored" not in header:
        raise levels_needed(path, "floats without a window")
    values = 2 ** int(header.BitsStored)
    least = -values // 2 if header.PixelRepresentation == 1 else 0
    ends = apply_modality_lut(np.array([least, least + values - 1]), header)
    return float(ends.min()), float(ends.max())
