"""An image that came over a connection: decoded from memory, and never written to a disk."""

from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

DICOM_MARK = b"DICM"  # behind a preamble of 128 bytes


@dataclass(frozen=True)
class ImageBytes:
    """The bytes of an image, in the place of its file."""

    data: bytes = field(repr=False)

    @property
    def suffix(self) -> str:
        """`.dcm` for DICOM; the other formats are recognised by their content alone."""
        return ".dcm" if self.data[128:132] == DICOM_MARK else ""

    def open(self, _mode: str = "rb") -> BytesIO:
        return BytesIO(self.data)

    def __str__(self) -> str:
        return "the file"


PictureFile = Path | ImageBytes


def for_decoder(picture: PictureFile) -> Path | BytesIO:
    """What a decoder opens."""
    return picture if isinstance(picture, Path) else picture.open()
