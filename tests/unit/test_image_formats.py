"""Images as hospitals keep them: deep, inverted, sideways, in many frames; each read as a viewer would show it."""

import sys
from pathlib import Path

import numpy as np
import pytest
from medical_files import write_dicom, write_tiff
from PIL import Image
from source_files import pixels, write_images

from mooring.data._image_folder import ImageFolder
from mooring.data._images import DataWarning
from mooring.data._pixels import decode_image
from mooring.errors import DataError, ExtraError

RAMP = np.linspace(0, 4095, 256).reshape(16, 16).astype("<u2")  # 12 bits
HALF = np.repeat(np.array([[255], [0]], np.uint8), 8, axis=0).repeat(16, axis=1)  # white above black


def grey(path: Path, **settings: object) -> np.ndarray:
    return decode_image(path, 16, 1, **settings)[0]  # type: ignore[arg-type]


def near(found: np.ndarray, expected: object) -> bool:
    return bool(np.abs(found.astype(int) - np.asarray(expected).astype(int)).max() <= 1)


@pytest.mark.parametrize(("bits", "photometric"), [(16, 1), (16, 0), (8, 1), (8, 0)])
def test_a_grey_tiff_is_scaled_by_its_bits_and_turned_where_white_is_zero(
    tmp_path: Path, bits: int, photometric: int
) -> None:
    values = np.linspace(0, 2**bits - 1, 256).reshape(16, 16).astype("<u2" if bits == 16 else "u1")
    expected = values.astype(float) * 255 / (2**bits - 1)
    found = grey(write_tiff(tmp_path / "a.tif", values, bits, photometric))
    assert near(found, 255 - expected if photometric == 0 else expected)


def test_a_colour_tiff_of_16_bits_keeps_its_colours(tmp_path: Path) -> None:
    values = pixels(16, 16, 3)
    found = decode_image(write_tiff(tmp_path / "a.TIFF", values.astype("<u2") * 257, 16, 2), 16, 3)
    assert near(found, values.transpose(2, 0, 1))


def test_twelve_bits_in_sixteen_are_noticed_and_levels_bring_them_up(tmp_path: Path) -> None:
    for part in ("train", "test"):
        (tmp_path / part / "a").mkdir(parents=True)
        for number in range(2):
            write_tiff(tmp_path / part / "a" / f"{number}.tif", RAMP, 16, 1)
    with pytest.warns(DataWarning, match=r"all pixels of 2 images lie between 0 and 15 of 255; .*data\.levels"):
        ImageFolder(str(tmp_path), size=16, channels=1).train()
    bright = ImageFolder(str(tmp_path), size=16, channels=1, levels=(0, 4095)).train()
    assert near(bright.images[0, 0].numpy(), RAMP / 4095 * 255)


@pytest.mark.parametrize(("kind", "bits", "sample_format"), [("<f4", 32, 3), ("<i2", 16, 2), ("<u4", 32, 1)])
def test_values_that_may_mean_anything_need_levels(tmp_path: Path, kind: str, bits: int, sample_format: int) -> None:
    path = write_tiff(tmp_path / "a.tif", RAMP.astype(kind), bits, 1, sample_format)
    with pytest.raises(DataError, match=r"a\.tif holds .* data\.levels=\[BLACK, WHITE\]"):
        grey(path)
    assert near(grey(path, levels=(0, 4095)), RAMP / 4095 * 255)
    assert near(grey(path, levels=(4095, 0)), 255 - RAMP / 4095 * 255)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_deflate", "packbits"])
def test_compressed_tiffs_are_read_and_stand_upright(tmp_path: Path, compression: str) -> None:
    for deep, values in (("8", HALF), ("16", HALF.astype(np.uint16) * 257)):
        path = tmp_path / f"{deep}.tif"
        Image.fromarray(values).save(path, compression=compression, tiffinfo={274: 6})  # turn clockwise to see it
        assert near(grey(path), np.rot90(HALF, -1)), deep


def test_of_several_frames_the_first_is_read(tmp_path: Path) -> None:
    first, second = (Image.new("RGB", (8, 8), colour) for colour in ((10, 20, 30), (200, 100, 50)))
    for name, options in (("a.tif", {}), ("a.png", {}), ("a.gif", {}), ("a.webp", {"lossless": True})):
        first.save(tmp_path / name, save_all=True, append_images=[second], **options)
        assert decode_image(tmp_path / name, 2, 3)[:, 0, 0].tolist() == [10, 20, 30], name


def test_grey_and_colour_may_be_mixed(tmp_path: Path) -> None:
    for part in ("train", "test"):
        (tmp_path / part / "a").mkdir(parents=True)
        Image.fromarray(HALF).save(tmp_path / part / "a" / "grey.tif")
        Image.fromarray(pixels(16, 16, 3)).save(tmp_path / part / "a" / "colour.png")
    train = ImageFolder(str(tmp_path), size=16).train().images
    assert train.shape == (2, 3, 16, 16)
    assert (train[1] == train[1, :1]).all()
    assert ImageFolder(str(tmp_path), size=16, channels=1).train().images.shape == (2, 1, 16, 16)


def test_a_picture_fits_its_square_as_told(tmp_path: Path) -> None:
    wide = np.full((10, 30), 60, np.uint8)
    wide[:, 10:20] = 200
    Image.fromarray(wide).save(tmp_path / "wide.png")
    crop, pad, stretch = (decode_image(tmp_path / "wide.png", 30, 1, fit=fit)[0] for fit in ("crop", "pad", "stretch"))  # type: ignore[arg-type]
    assert crop.min() > 150
    assert (pad[:10] == 0).all()
    assert near(pad[10:20], wide)
    assert near(stretch[::10], wide[:3])


def test_dicom_is_scaled_by_its_bits(tmp_path: Path) -> None:
    pytest.importorskip("pydicom")
    plain = write_dicom(tmp_path / "a.dcm", RAMP, 12, "MONOCHROME2")
    inverted = write_dicom(tmp_path / "b.dcm", RAMP, 12, "MONOCHROME1")
    signed = write_dicom(tmp_path / "c.dcm", RAMP.astype("<i2") - 2048, 12, "MONOCHROME2")
    expected = RAMP / 4095 * 255
    assert near(grey(plain), expected)
    assert near(grey(inverted), 255 - expected)
    assert near(grey(signed), expected)


def test_dicom_is_rescaled_and_seen_through_its_window_or_the_levels_given(tmp_path: Path) -> None:
    pytest.importorskip("pydicom")
    hounsfield = {"RescaleSlope": 2, "RescaleIntercept": -1024}
    x = 2.0 * RAMP - 1024
    path = write_dicom(tmp_path / "a.dcm", RAMP, 12, "MONOCHROME2", **hounsfield, WindowCenter=[40, 7], WindowWidth=400)
    assert near(grey(path), ((x - (40 - 0.5)) / 399 + 0.5).clip(0, 1) * 255)  # PS3.3, C.11.2.1.2.1
    exact = {"WindowCenter": 40, "WindowWidth": 400, "VOILUTFunction": "LINEAR_EXACT"}
    path = write_dicom(tmp_path / "b.dcm", RAMP, 12, "MONOCHROME1", **hounsfield, **exact)
    assert near(grey(path), 255 - ((x - 40) / 400 + 0.5).clip(0, 1) * 255)
    assert near(grey(path, levels=(-1000, 2000)), 255 - ((x + 1000) / 3000).clip(0, 1) * 255)
    path = write_dicom(tmp_path / "c.dcm", RAMP, 12, "MONOCHROME2", **exact | {"VOILUTFunction": "SIGMOID"})
    with pytest.raises(DataError, match=r"a window of the function SIGMOID; .*data\.levels"):
        grey(path)


def test_dicom_has_colours_frames_and_compression(tmp_path: Path) -> None:
    pydicom = pytest.importorskip("pydicom")
    colours = pixels(16, 16, 3)
    assert near(decode_image(write_dicom(tmp_path / "a.dcm", colours, 8, "RGB"), 16, 3), colours.transpose(2, 0, 1))
    frames = np.stack([RAMP, np.zeros_like(RAMP)])
    path = write_dicom(tmp_path / "b.dcm", frames, 12, "MONOCHROME2", NumberOfFrames=2)
    assert near(grey(path), RAMP / 4095 * 255)
    dataset = pydicom.dcmread(path)
    dataset.compress(pydicom.uid.RLELossless, generate_instance_uid=False)
    dataset.save_as(tmp_path / "c.dicom")
    assert np.array_equal(grey(tmp_path / "c.dicom"), grey(path))


def test_dicom_that_cannot_be_decoded_here_is_an_error_with_a_way_out(tmp_path: Path) -> None:
    pydicom = pytest.importorskip("pydicom")
    path = write_dicom(tmp_path / "a.dcm", RAMP, 12, "MONOCHROME2")
    for syntax, words in (
        ("1.2.840.10008.1.2.1.99", "deflated as a whole; export it uncompressed"),
        ("1.2.840.10008.1.2.4.80", "compressed as JPEG-LS .*; export it uncompressed"),
    ):
        dataset = pydicom.dcmread(path)
        dataset.file_meta.TransferSyntaxUID = syntax
        dataset.PixelData = pydicom.encaps.encapsulate([bytes(100)])
        dataset["PixelData"].is_undefined_length = True
        dataset.save_as(tmp_path / "b.dcm")
        with pytest.raises(DataError, match=words):
            grey(tmp_path / "b.dcm")


def test_without_pydicom_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("train", "test"):
        write_images(tmp_path / part / "a", 1)
    (tmp_path / "train" / "a" / "scan.dcm").write_bytes(bytes(200))
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(ExtraError, match=r"pydicom: is not installed; pip install 'mooring\[dicom\]'"):
        ImageFolder(str(tmp_path), size=8).train()
    assert len(ImageFolder(str(tmp_path), size=8).test()) == 1


def test_a_damaged_scan_is_named_like_any_other_image(tmp_path: Path) -> None:
    pytest.importorskip("pydicom")
    for part in ("train", "test"):
        (tmp_path / part / "a").mkdir(parents=True)
        write_dicom(tmp_path / part / "a" / "whole.dcm", RAMP, 12, "MONOCHROME2")
    whole = (tmp_path / "train" / "a" / "whole.dcm").read_bytes()
    for number, end in enumerate((0, 100, 200, 400, len(whole) - 10)):
        (tmp_path / "train" / "a" / f"cut{number}.dcm").write_bytes(whole[:end])
    with pytest.warns(DataWarning, match=r"5 of 6 images cannot be read: .*cut0\.dcm"):
        assert len(ImageFolder(str(tmp_path), size=8).train()) == 1
