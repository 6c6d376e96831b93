"""A user's own images, in folders or arrays: read as they are meant, and every mistake named."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from source_files import pixels, write_arrays, write_images

from mooring.config import load
from mooring.data import _image_tree as progress
from mooring.data._arrays import Arrays
from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import reading_progress
from mooring.data._images import DataWarning
from mooring.data._pixels import decode_image
from mooring.errors import DataError
from mooring.events import Event, ImagesRead
from mooring.execution import run_experiment
from mooring.models._feature_maps import EncoderFeatures


def folder(root: Path, **fields: object) -> ImageFolder:
    return ImageFolder(str(root), **{"size": 8, **fields})  # type: ignore[arg-type]


def rejected(source: ImageFolder | Arrays, *words: str) -> None:
    with pytest.raises(DataError) as caught:
        source.train()
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


def write_split(root: Path) -> Path:
    for part, count in (("train", 3), ("test", 2)):
        for label in ("dog", "cat"):
            write_images(root / part / label, count)
    return root


def test_split_folders_are_kept_apart(tmp_path: Path) -> None:
    source = folder(write_split(tmp_path))
    train, test = source.train(), source.test()
    assert train.images.shape == (6, 3, 8, 8)
    assert train.images.dtype == torch.uint8
    assert train.classes == test.classes == ("cat", "dog")
    assert train.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert test.label_counts() == (2, 2)
    assert train.sites is None


def test_held_out_images_are_chosen_per_class_by_name_alone(tmp_path: Path) -> None:
    for label, count in (("a", 10), ("b", 5), ("c", 2), ("d", 1)):
        for number in range(count):
            (tmp_path / label).mkdir(exist_ok=True)
            Image.new("L", (8, 8), 10 * number).save(tmp_path / label / f"{number}.bmp")
    source = folder(tmp_path, channels=1)
    assert source.train().label_counts() == (8, 4, 1, 1)
    assert source.test().label_counts() == (2, 1, 1, 0)
    again = folder(tmp_path, channels=1, limit=3)
    assert torch.equal(source.test().images, again.test().images)
    everything = torch.cat([source.train().images, source.test().images])[:, 0, 0, 0].tolist()
    assert sorted(everything) == sorted([*range(0, 100, 10), *range(0, 50, 10), 0, 10, 0])
    before = source.test().images
    moved = tmp_path / "deep" / "moved"
    moved.mkdir(parents=True)
    for label in "abcd":
        (tmp_path / label).rename(moved / label)
    assert torch.equal(folder(moved, channels=1).test().images, before)


def test_sites_name_the_owner_of_each_image(tmp_path: Path) -> None:
    for site, label, count in (("north", "cat", 5), ("north", "dog", 5), ("south", "dog", 10)):
        write_images(tmp_path / site / label, count)
    source = folder(tmp_path)
    train, test = source.train(), source.test()
    assert train.classes == test.classes == ("cat", "dog")
    assert train.sites == ("north",) * 8 + ("south",) * 8
    assert test.sites == ("north",) * 2 + ("south",) * 2
    assert test.label_counts() == (1, 3)
    assert folder(tmp_path, layout="tree").train().classes == ("north", "south")


def test_hidden_files_other_files_and_loops_are_ignored(tmp_path: Path) -> None:
    write_images(tmp_path / "a", 5)
    write_images(tmp_path / "b" / "deeper", 5)
    write_images(tmp_path / ".cache", 1)
    write_images(tmp_path / "a" / ".thumbnails", 1)
    (tmp_path / "a" / ".hidden.png").write_bytes(b"no image")
    (tmp_path / "a" / "notes.txt").write_text("no image")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "self").symlink_to(tmp_path / "self")
    source = folder(tmp_path)
    with pytest.warns(DataWarning, match=r"^ignored: 1 \.txt$"):
        assert source.train().label_counts() == (4, 4)
    assert source.test().label_counts() == (1, 1)


@pytest.mark.parametrize("layout", ["split", "tree", "sites"])
def test_ignored_files_are_counted_by_their_ending(tmp_path: Path, layout: str) -> None:
    above = {"split": ("train", "test"), "tree": ("",), "sites": ("north", "south")}[layout]
    for part in above:
        write_images(tmp_path / part / "a", 2)
        for number in range(2):
            (tmp_path / part / "a" / f"{number}.TXT").touch()
    (tmp_path / "labels.json").touch()
    (tmp_path / "README").touch()
    write_images(tmp_path, 1)
    with pytest.warns(DataWarning) as caught:
        folder(tmp_path, layout=layout).train()
    [message] = [str(warning.message) for warning in caught]
    counts = [f"{2 * len(above)} .txt", "1 .json", "1 .png outside class folders", "1 without an ending"]
    assert message.startswith(f"ignored: {counts[0]}, 1 ")  # the most frequent first
    assert sorted(message.removeprefix("ignored: ").split(", ")) == sorted(counts)


def test_a_size_left_open_is_what_the_method_asks_for(tmp_path: Path) -> None:
    write_split(tmp_path)
    source = ImageFolder(str(tmp_path))
    assert source.train().shape == (3, 32, 32)
    assert source.for_size(lambda: 224).train().shape == (3, 224, 224)
    assert source.for_size(lambda: None).size == 32
    assert folder(tmp_path, size=48).for_size(lambda: 224).size == 48
    both = ImageFolder(str(tmp_path), public=source).for_size(lambda: 96)
    assert (both.size, both.public) == (96, source.for_size(lambda: 96))


def test_an_experiment_holds_the_size_it_uses_and_older_fingerprints_stay() -> None:
    settings = ["method=v7", "data.source=image_folder", "data.root=x"]
    [opened], [given], [fitted] = (
        load(overrides=[*settings, *more]) for more in ([], ["data.size=32"], ["data.fit=pad"])
    )
    assert opened.tree()["data"]["size"] == 32
    assert opened.fingerprint() == given.fingerprint()
    assert opened.fingerprint().startswith("3d4c572de166")  # as it was when there was neither fit nor group
    assert fitted.fingerprint() != opened.fingerprint()


def test_images_of_an_open_size_get_what_the_encoder_takes() -> None:
    if EncoderFeatures().missing() is not None:
        pytest.skip("the extra encoder is not installed")
    folder_of = ["data.source=image_folder", "data.root=x"]
    words = ([], ["data.channels=1"], ["encoder.pixels=96"], ["data.size=300"], ["encoder=none"], ["method=v7"])
    sizes = [load(overrides=[*folder_of, *more])[0].tree()["data"]["size"] for more in words]
    assert sizes == [260, 260, 96, 300, 32, 32]


def test_large_images_of_sites_run_in_the_size_that_was_asked_for(tmp_path: Path) -> None:
    for number in range(2):
        for label, shape in (("a", (224, 300, 3)), ("b", (260, 224))):
            (tmp_path / "sites" / f"site{number}" / label).mkdir(parents=True)
            for image in range(2):
                path = tmp_path / "sites" / f"site{number}" / label / f"{image}.tif"
                Image.fromarray(pixels(*shape)).save(path)
    data = ["data.source=image_folder", f"data.root={tmp_path / 'sites'}", "data.size=224", "partition.kind=sites"]
    [experiment] = load(overrides=["method=afl", *data, "engine.workers=1", f"out={tmp_path / 'run'}"])
    result = run_experiment(experiment)
    assert result.image_shape == (3, 224, 224)
    assert [site.images for site in result.sites] == [2] * 2
    assert result.last.metrics.accuracy == 1  # grey and coloured noise


def test_reading_that_takes_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_split(tmp_path)
    heard: list[Event] = []
    with reading_progress(heard.append):
        folder(tmp_path).train()
        assert heard == []
        monkeypatch.setattr(progress, "PATIENCE", 0.0)
        monkeypatch.setattr(progress, "EVERY", 0.0)
        folder(tmp_path).train()
    assert heard == [ImagesRead(done, 6) for done in range(6)]


def test_class_folder_may_be_a_link(tmp_path: Path) -> None:
    write_images(tmp_path / "root" / "a", 2)
    (tmp_path / "root" / "b").symlink_to(write_images(tmp_path / "elsewhere", 2), target_is_directory=True)
    assert folder(tmp_path / "root").train().label_counts() == (1, 1)


def test_corrupt_images_are_named_in_one_warning(tmp_path: Path) -> None:
    write_images(tmp_path / "train" / "a", 2)
    write_images(tmp_path / "test" / "a", 1)
    whole = (tmp_path / "train" / "a" / "000.png").read_bytes()
    for number in range(7):
        (tmp_path / "train" / "a" / f"broken{number}.png").write_bytes(whole[: 10 * number])
    (tmp_path / "train" / "a" / "dangling.png").symlink_to(tmp_path / "absent.png")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        train = folder(tmp_path).train()
    assert [warning.category for warning in caught] == [DataWarning]
    message = str(caught[0].message)
    assert message.count("8 of 10") == 1
    assert "broken0.png" in message
    assert "and 3 more" in message
    assert caught[0].filename == __file__
    assert len(train) == 2
    rejected(folder(tmp_path, corrupt="error"), "broken0.png", "skip")
    assert len(folder(tmp_path, corrupt="error").test()) == 1


def test_class_of_corrupt_images_alone_is_an_error(tmp_path: Path) -> None:
    write_split(tmp_path)
    for path in (tmp_path / "train" / "cat").iterdir():
        path.write_bytes(b"no image")
    with pytest.warns(DataWarning, match="3 of 6"):
        rejected(folder(tmp_path), "'cat'")


def test_folders_that_make_no_sense_are_named(tmp_path: Path) -> None:
    rejected(folder(tmp_path), "no images")
    rejected(folder(tmp_path, layout="tree"), "no images")
    rejected(folder(tmp_path, layout="split"), "train")
    rejected(ImageFolder(), "data.root")
    write_split(tmp_path / "s")
    (tmp_path / "s" / "train" / "empty").mkdir()
    rejected(folder(tmp_path / "s"), str(tmp_path / "s" / "train" / "empty"), "holds no images")
    (tmp_path / "s" / "train" / "empty").rmdir()
    write_images(tmp_path / "s" / "test" / "wolf", 1)
    rejected(folder(tmp_path / "s"), "'wolf'", "same class folders")
    write_images(tmp_path / "half" / "train" / "cat", 1)
    rejected(folder(tmp_path / "half"), "no test/")
    (tmp_path / "file").write_text("")
    rejected(folder(tmp_path / "file"), "cannot be listed")
    write_images(tmp_path / "single" / "cat", 1)
    with pytest.raises(DataError, match="held_out"):
        folder(tmp_path / "single").test()


def test_images_are_cropped_about_their_centre_not_squeezed(tmp_path: Path) -> None:
    wide = np.zeros((10, 30), np.uint8)
    wide[:, 10:20] = 200
    Image.fromarray(wide).save(tmp_path / "wide.png")
    assert (decode_image(tmp_path / "wide.png", 10, 1) == 200).all()
    assert decode_image(tmp_path / "wide.png", 4, 3).shape == (3, 4, 4)


def test_orientation_of_a_camera_is_respected(tmp_path: Path) -> None:
    sideways = np.zeros((16, 16, 3), np.uint8)
    sideways[:8] = 255  # the upper half is white
    exif = Image.Exif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to see it upright
    Image.fromarray(sideways).save(tmp_path / "photo.jpg", exif=exif)
    upright = decode_image(tmp_path / "photo.jpg", 16, 1)[0]
    assert upright[:, 12:].min() > 200
    assert upright[:, :4].max() < 50


@pytest.mark.parametrize("channels", [1, 3])
def test_every_mode_becomes_plain_bytes(tmp_path: Path, channels: int) -> None:
    grey = Image.fromarray(np.full((8, 8), 100, np.uint8))
    clear = Image.new("RGBA", (8, 8), (10, 10, 10, 0))
    palette = grey.convert("P")
    see_through = Image.new("P", (8, 8), 3)
    see_through.putpalette([0, 0, 0] * 256)
    see_through.info["transparency"] = 3
    cases = {
        "grey.png": (grey, 100),
        "colour.webp": (grey.convert("RGB"), 100),
        "palette.png": (palette, 100),
        "bilevel.bmp": (Image.new("1", (8, 8), 1), 255),
        "cmyk.jpg": (Image.new("CMYK", (8, 8), (0, 0, 0, 155)), 100),
        "deep.png": (Image.fromarray(np.full((8, 8), 100 * 257, np.uint16)), 100),
        "alpha.png": (clear, 255),
        "grey_alpha.png": (clear.convert("LA"), 255),
        "see_through.png": (see_through, 255),
    }
    for name, (image, value) in cases.items():
        image.save(tmp_path / name)
        pixel = decode_image(tmp_path / name, 4, channels)  # type: ignore[arg-type]
        assert pixel.shape == (channels, 4, 4), name
        assert np.abs(pixel.astype(int) - value).max() <= 2, name


def test_only_image_formats_are_opened_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "script.png"
    Image.new("RGB", (8, 8)).save(path, format="PPM")
    with pytest.raises(OSError, match="cannot identify"):
        decode_image(path, 4, 3)


@pytest.mark.parametrize("shape", [(9, 7), (9, 7, 3), (3, 9, 7), (1, 9, 7), (9, 7, 1)])
def test_arrays_are_read_in_every_common_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    train, test = pixels(6, *shape), pixels(3, *shape)
    source = Arrays(write_arrays(tmp_path / "a.npz", train_images=train, test_images=test))
    read = source.train()
    assert read.shape == (3 if 3 in shape else 1, 9, 7)
    first = torch.from_numpy(train[0]).reshape(shape)
    assert torch.equal(read.images[0].flatten().sort().values, first.flatten().sort().values)
    expected = first.permute(2, 0, 1) if shape == (9, 7, 3) else first.reshape(read.shape)
    assert torch.equal(read.images[0], expected)
    assert source.test().labels.tolist() == [0, 1, 2]
    assert read.classes == ("0", "1", "2")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_from_zero_to_one_become_bytes(tmp_path: Path, dtype: type) -> None:
    train = pixels(6, 9, 9)
    source = Arrays(write_arrays(tmp_path / "a.npz", train_images=(train / 255).astype(dtype)))
    assert torch.equal(source.train().images[:, 0], torch.from_numpy(train))


def test_arrays_carry_classes_and_sites(tmp_path: Path) -> None:
    sites = np.array(["x", "x", "y", "y", "z", "z"])
    names = np.array([b"cat", b"dog", b"cow", b"elk"])
    source = Arrays(write_arrays(tmp_path / "a.npz", train_sites=sites, classes=names))
    assert source.train().sites == tuple("xxyyzz")
    assert source.test().classes == ("cat", "dog", "cow", "elk")
    assert source.test().sites is None


def holed() -> np.ndarray:
    images = np.zeros((6, 9, 9))
    images[4, 2, 2] = np.nan
    return images


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"test_labels": None}, ("has no test_labels",)),
        ({"train_images": holed()}, ("train_images[4]", "NaN")),
        ({"train_images": np.full((6, 9, 9), 255.0)}, ("train_images holds 255", "uint8")),
        ({"test_images": np.full((3, 9, 9), -0.5)}, ("test_images holds -0.5",)),
        ({"train_images": np.zeros((6, 9, 9), np.int64)}, ("train_images is int64", "uint8")),
        ({"train_images": np.zeros((6, 9, 9), bool)}, ("train_images is bool",)),
        ({"train_images": np.zeros((6, 81), np.uint8)}, ("train_images has shape (6, 81)", "(N, H, W)")),
        ({"train_images": pixels(6, 3, 9, 3)}, ("(6, 3, 9, 3)", "first or last")),
        ({"train_images": pixels(6, 9, 9, 9)}, ("(6, 9, 9, 9)", "neither")),
        ({"train_images": pixels(0, 9, 9)}, ("train_images is empty",)),
        ({"test_images": pixels(3, 8, 9)}, ("test_images", "(1, 8, 9)", "one shape")),
        ({"train_labels": np.array([0, 1])}, ("train_labels has shape (2,)", "6 images")),
        ({"train_labels": np.zeros((6, 2), int)}, ("train_labels has shape (6, 2)",)),
        ({"train_labels": np.array([0, 1, 2, 0, 1, -3])}, ("train_labels holds -3",)),
        ({"train_labels": np.array([0, 1, 2, 0, 1, 2.5])}, ("train_labels is float64", "astype")),
        ({"train_labels": np.array([1, 2, 3, 1, 2, 3])}, ("never 0", "number from 0")),
        ({"train_labels": np.full(6, 2**63, np.uint64)}, ("train_labels holds 9223372036854775808",)),
        ({"test_labels": np.array([0, 1, 3])}, ("test_labels holds 3", "3 classes")),
        ({"classes": np.array(["a", "b"])}, ("train_labels holds 2", "2 classes")),
        ({"classes": np.array(["a", "b", "a"])}, ("twice",)),
        ({"classes": np.array([0.5, 1.5, 2.5])}, ("classes is float64",)),
        ({"train_sites": np.array(["x"])}, ("train_sites has shape (1,)",)),
        ({"train_labels": np.array([0, 1, 2, 0, 1, None])}, ("dtype object",)),
    ],
)
def test_wrong_arrays_are_named_with_value_and_remedy(
    tmp_path: Path, changed: dict[str, object], words: tuple[str, ...]
) -> None:
    rejected(Arrays(write_arrays(tmp_path / "a.npz", **changed)), *words)


def test_files_that_are_no_npz_are_data_errors(tmp_path: Path) -> None:
    whole = Path(write_arrays(tmp_path / "whole.npz")).read_bytes()
    path = tmp_path / "a.npz"
    for content in (b"", b"rubbish", whole[:-30], whole[:200], b"\x80\x04cos\nsystem\n."):
        path.write_bytes(content)
        rejected(Arrays(str(path)), str(path), "train_images")
    np.save(tmp_path / "lone.npy", pixels(6, 9, 9))
    for other in (tmp_path / "lone.npy", tmp_path):
        rejected(Arrays(os.fspath(other)), str(other), "train_images")
    rejected(Arrays(), "data.root")
