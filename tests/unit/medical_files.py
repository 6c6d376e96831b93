"""TIFF and DICOM files as hospitals keep them, written by hand where Pillow writes no such file."""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

WIDTH, HEIGHT, BITS, PHOTOMETRIC, SAMPLES, SAMPLE_FORMAT = 256, 257, 258, 262, 277, 339


def write_tiff(path: Path, values: NDArray[np.generic], bits: int, photometric: int, sample_format: int = 1) -> Path:
    """Uncompressed, in one strip; values as they lie in the file."""
    height, width = values.shape[:2]
    samples, data = values[0, 0].size, values.tobytes()
    end = 8 + len(data)  # of the pixels, where eight times so many shorts as there are samples follow
    listed = {BITS: (end, bits), SAMPLE_FORMAT: (end + 2 * samples, sample_format)}
    numbers = {WIDTH: width, HEIGHT: height, 259: 1, PHOTOMETRIC: photometric, 273: 8, SAMPLES: samples, 279: len(data)}
    entries = b""
    for tag in sorted([*numbers, *listed]):
        if tag in numbers:
            entries += struct.pack("<HHII", tag, 4, 1, numbers[tag])
        elif samples == 1:
            entries += struct.pack("<HHIHH", tag, 3, 1, listed[tag][1], 0)
        else:
            entries += struct.pack("<HHII", tag, 3, samples, listed[tag][0])
    shorts = b"".join(struct.pack("<H", value) * samples for _, value in listed.values())
    directory = struct.pack("<H", len(numbers) + len(listed)) + entries + bytes(4)
    path.write_bytes(b"II*\0" + struct.pack("<I", end + len(shorts)) + data + shorts + directory)
    return path


def write_dicom(path: Path, values: NDArray[np.generic], bits: int, photometric: str, **tags: object) -> Path:
    """One frame (H, W) or (H, W, 3), or several of grey with NumberOfFrames among the tags; needs pydicom."""
    from pydicom.dataset import FileDataset, FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage

    meta = FileMetaDataset()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = SecondaryCaptureImageStorage, "1.2.3"
    dataset = FileDataset(str(path), {}, file_meta=meta, preamble=bytes(128))
    colour = photometric == "RGB"
    dataset.Rows, dataset.Columns = values.shape[:2] if colour else values.shape[-2:]
    dataset.SamplesPerPixel, dataset.PhotometricInterpretation = 3 if colour else 1, photometric
    dataset.BitsAllocated, dataset.BitsStored, dataset.HighBit = 8 * values.itemsize, bits, bits - 1
    dataset.PixelRepresentation = int(values.dtype.kind == "i")
    if colour:
        dataset.PlanarConfiguration = 0
    for name, value in tags.items():
        setattr(dataset, name, value)
    dataset.PixelData = values.tobytes()
    dataset.save_as(path, enforce_file_format=True)
    return path
