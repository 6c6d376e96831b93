"""Every source reads its official files, and says what is wrong with any others."""

import contextlib
import dataclasses
import gzip
import math
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from scipy.io import savemat
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from source_files import idx, pixels, python2_pickle, write_cifar10, write_cifar100, write_fashion, write_svhn

from mooring.data import _digits as digits
from mooring.data import _fashion_mnist as fashion_mnist
from mooring.data._catalogue import SOURCES, list_sources
from mooring.data._cifar import Cifar10, Cifar100
from mooring.data._digits import Digits
from mooring.data._fashion_mnist import FashionMnist
from mooring.data._images import ImageSet, Source
from mooring.data._locate import data_root, find, own_path
from mooring.data._svhn import Svhn
from mooring.errors import DataError


@pytest.fixture(autouse=True)
def nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No data but what a test writes, wherever the tests run."""
    monkeypatch.setattr(fashion_mnist, "FOLDERS", fashion_mnist.FOLDERS[:2])
    monkeypatch.setenv("MOORING_DATA", str(tmp_path / "nowhere"))


def assert_sound(part: ImageSet, count: int, shape: tuple[int, int, int], classes: int) -> None:
    assert part.images.shape == (count, *shape)
    assert part.images.dtype == torch.uint8
    assert part.images.is_contiguous()
    assert part.labels.shape == (count,)
    assert part.labels.dtype == torch.int64
    assert len(part.classes) == classes
    assert sum(part.label_counts()) == count


def rejected(source: Source, *words: str) -> None:
    with pytest.raises(DataError) as caught:
        source.train()
    assert caught.value.remedy
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_sources_are_frozen_and_named_as_in_the_catalogue(name: str) -> None:
    source = SOURCES[name]()
    assert source.source == name  # type: ignore[attr-defined]
    assert len(source.mean) == len(source.std)
    with pytest.raises(dataclasses.FrozenInstanceError):
        source.root = "elsewhere"  # type: ignore[misc]


def test_mirroring_is_for_things_and_not_for_signs() -> None:
    assert {name for name, source in SOURCES.items() if not source.mirror} == {"digits", "svhn", "mnist", "emnist"}


def test_digits_are_scikit_learns_in_a_split_of_its_making() -> None:
    bunch = load_digits()
    parts = train_test_split(np.arange(1797), test_size=360, stratify=bunch.target, random_state=0)
    for chosen, part in zip(map(np.sort, parts), (Digits().train(), Digits().test()), strict=True):
        assert np.array_equal(part.images[:, 0].numpy(), np.rint(bunch.images[chosen] * 255 / 16))
        assert np.array_equal(part.labels.numpy(), bunch.target[chosen])


def test_the_digits_are_read_without_importing_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sklearn.datasets", "sklearn.model_selection"):
        monkeypatch.setitem(sys.modules, module, None)
    digits._table.cache_clear()
    assert len(Digits().train()) == 1437


def test_digits_that_are_missing_say_who_ships_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    digits._table.cache_clear()
    with pytest.raises(DataError, match="scikit-learn"):
        Digits().train()


def test_digits_have_one_split_for_ever() -> None:
    train, test = Digits().train(), Digits(root="ignored").test()
    assert_sound(train, 1437, (1, 8, 8), 10)
    assert_sound(test, 360, (1, 8, 8), 10)
    assert test.label_counts() == (36, 36, 35, 37, 36, 37, 36, 36, 35, 36)
    assert test.labels[:12].tolist() == [1, 4, 8, 6, 5, 9, 9, 1, 3, 2, 2, 2]
    assert int(train.images.max()) == 255
    scaled = train.images.double() / 255
    assert math.isclose(scaled.mean().item(), Digits.mean[0], abs_tol=1e-4)
    assert math.isclose(scaled.std().item(), Digits.std[0], abs_tol=1e-4)
    both = torch.cat([train.images, test.images])
    assert len(both.flatten(1).unique(dim=0)) == 1797


@pytest.mark.parametrize("inside", [False, True])
def test_cifar10_is_read_as_python2_wrote_it(tmp_path: Path, inside: bool) -> None:
    folder = write_cifar10(tmp_path)
    source = Cifar10(str(folder if inside else tmp_path))
    train, test = source.train(), source.test()
    assert_sound(train, 15, (3, 32, 32), 10)
    assert_sound(test, 3, (3, 32, 32), 10)
    assert torch.equal(train.images[:3].flatten(1), torch.from_numpy(pixels(3, 3072)))
    assert train.labels[:6].tolist() == [0, 1, 2, 1, 2, 3]
    assert test.classes[5] == "dog"


@pytest.mark.parametrize("protocol", [2, 4])
def test_cifar100_is_read_as_python3_wrote_it(tmp_path: Path, protocol: int) -> None:
    write_cifar100(tmp_path, protocol)
    train = Cifar100(str(tmp_path)).train()
    assert_sound(train, 5, (3, 32, 32), 100)
    assert train.labels.tolist() == [99, 98, 97, 96, 95]
    assert_sound(Cifar100(str(tmp_path)).test(), 2, (3, 32, 32), 100)
    assert len(set(Cifar100.classes)) == 100
    assert list(Cifar100.classes) == sorted(Cifar100.classes)


@pytest.mark.parametrize(
    ("batch", "word"),
    [
        ({"labels": [1]}, "no 'data'"),
        ({"data": pixels(1, 3072)}, "no 'labels'"),
        ({"data": pixels(1, 3000), "labels": [1]}, "(1, 3000)"),
        ({"data": pixels(1, 3072).astype(np.int64), "labels": [1]}, "int64"),
        ({"data": [1, 2], "labels": [1]}, "'data' is list"),
        ({"data": pixels(2, 3072), "labels": [1]}, "1 labels for 2"),
        ({"data": pixels(0, 3072), "labels": []}, "0 labels"),
        ({"data": pixels(1, 3072), "labels": "1"}, "str"),
        ({"data": pixels(1, 3072), "labels": [10]}, "holds 10"),
        ({"data": pixels(1, 3072), "labels": [-1]}, "holds -1"),
        ({"data": pixels(1, 3072), "labels": [2**80]}, "holds int"),
        ({"data": pixels(1, 3072), "labels": [True]}, "holds bool"),
        ({"data": pixels(1, 3072), "labels": [None]}, "holds NoneType"),
    ],
)
def test_wrong_cifar_batches_name_file_and_value(tmp_path: Path, batch: dict[str, object], word: str) -> None:
    broken = write_cifar10(tmp_path) / "data_batch_3"
    broken.write_bytes(pickle.dumps(batch, protocol=2))
    rejected(Cifar10(str(tmp_path)), str(broken), word)


def test_truncated_cifar_names_the_file(tmp_path: Path) -> None:
    broken = write_cifar10(tmp_path) / "data_batch_2"
    broken.write_bytes(python2_pickle(pixels(3, 3072), "labels", [1, 2, 3])[:-100])
    rejected(Cifar10(str(tmp_path)), str(broken), "archive")


def test_labels_may_be_an_array(tmp_path: Path) -> None:
    folder = write_cifar100(tmp_path)
    (folder / "train").write_bytes(pickle.dumps({"data": pixels(2, 3072), "fine_labels": np.array([3, 4])}, protocol=2))
    assert Cifar100(str(tmp_path)).train().labels.tolist() == [3, 4]


@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("folder", ["fashion-mnist", "."])
def test_fashion_mnist_is_read_zipped_or_not(tmp_path: Path, zipped: bool, folder: str) -> None:
    write_fashion(tmp_path / folder, zipped)
    train, test = FashionMnist(str(tmp_path)).train(), FashionMnist(str(tmp_path)).test()
    assert_sound(train, 12, (1, 28, 28), 10)
    assert_sound(test, 4, (1, 28, 28), 10)
    assert torch.equal(train.images[:, 0], torch.from_numpy(pixels(12, 28, 28)))
    assert train.labels.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1]


def test_unzipped_file_that_kept_its_name_is_read(tmp_path: Path) -> None:
    path = write_fashion(tmp_path) / "train-images-idx3-ubyte.gz"
    path.write_bytes(gzip.decompress(path.read_bytes()))
    assert len(FashionMnist(str(tmp_path)).train()) == 12


IMAGES, LABELS = "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        (IMAGES, gzip.compress(idx(pixels(12, 28, 28)))[:-20], "cannot be read whole"),
        (IMAGES, b"\x1f\x8bnonsense that is no gzip", "cannot be read whole"),
        (IMAGES, gzip.compress(idx(pixels(12, 28, 28)))[:3000] + b"\xff" * 999, "cannot be read whole"),
        (IMAGES, idx(pixels(12, 28, 28))[:-1], "where its header says (12, 28, 28)"),
        (IMAGES, idx(pixels(12, 28, 28)) + b"x", "where its header says"),
        (IMAGES, idx(pixels(12, 28, 27)), "(28, 27)"),
        (IMAGES, idx(pixels(11, 28, 28)), "11 images"),
        (IMAGES, idx(pixels(12)), "not an IDX file of 3"),
        (IMAGES, b"", "not an IDX file"),
        (IMAGES, b"\x00\x00\x08\x03\x00\x00", "not an IDX file"),
        (IMAGES, b"\x00\x00\x0d" + idx(pixels(12, 28, 28))[3:], "not an IDX file"),
        (LABELS, idx(np.full(12, 10, np.uint8)), "label 10"),
    ],
)
def test_wrong_idx_files_are_named(tmp_path: Path, name: str, content: bytes, word: str) -> None:
    broken = write_fashion(tmp_path) / name
    broken.write_bytes(content)
    rejected(FashionMnist(str(tmp_path)), str(broken), word, "dataset-fashion-mnist")


def test_empty_idx_files_are_rejected(tmp_path: Path) -> None:
    folder = write_fashion(tmp_path)
    (folder / IMAGES).write_bytes(idx(pixels(0, 28, 28)))
    (folder / LABELS).write_bytes(idx(pixels(0)))
    rejected(FashionMnist(str(tmp_path)), "no labels")


def test_svhn_calls_its_tenth_class_zero(tmp_path: Path) -> None:
    source = Svhn(str(write_svhn(tmp_path)))
    train = source.train()
    assert_sound(train, 10, (3, 32, 32), 10)
    assert train.labels.tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    assert train.images[4, 2, 7, 9] == pixels(32, 32, 3, 10)[7, 9, 2, 4]
    assert_sound(source.test(), 4, (3, 32, 32), 10)


@pytest.mark.parametrize(
    ("images", "labels", "word"),
    [
        (pixels(32, 32, 3, 2), [[1], [11]], "1 to 10"),
        (pixels(32, 32, 3, 2), [[0], [1]], "1 to 10"),
        (pixels(32, 32, 3, 2), [[1.5], [2.0]], "1 to 10"),
        (pixels(32, 32, 3, 2), [[1]], "1 labels"),
        (pixels(32, 31, 3, 2), [[1], [2]], "(32, 31, 3, 2)"),
        (pixels(32, 32, 3, 2) / 255, [[1], [2]], "X is double"),
        (np.array([{"a": 1}], dtype=object), [[1]], "X is"),
    ],
)
def test_wrong_svhn_variables_are_named(tmp_path: Path, images: object, labels: object, word: str) -> None:
    broken = write_svhn(tmp_path) / "train_32x32.mat"
    savemat(broken, {"X": images, "y": np.array(labels)})
    rejected(Svhn(str(tmp_path)), str(broken), word)


def test_broken_mat_files_are_data_errors(tmp_path: Path) -> None:
    broken = write_svhn(tmp_path) / "train_32x32.mat"
    whole = broken.read_bytes()
    savemat(broken, {"Z": 1})
    rejected(Svhn(str(tmp_path)), str(broken), "not an SVHN file")
    for content in (
        b"",
        b"rubbish",
        whole[:100],
        whole[:5000],
        b"\x89HDF\r\n\x1a\n" * 100,
        whole[:128] + b"\xff" * 999,
    ):
        broken.write_bytes(content)
        rejected(Svhn(str(tmp_path)), str(broken), "not an SVHN file")
        with contextlib.suppress(DataError):  # a whole header is enough for an overview
            assert Svhn(str(tmp_path)).overview().train == 10


@pytest.mark.parametrize(
    ("source", "file", "get"),
    [
        (Cifar10, "cifar-10-batches-py", "cifar-10-python.tar.gz"),
        (Cifar100, "cifar-100-python", "cifar-100-python.tar.gz"),
        (FashionMnist, "train-images-idx3-ubyte", "apt-get install dataset-fashion-mnist"),
        (Svhn, "train_32x32.mat", "official"),
    ],
)
def test_missing_files_say_what_goes_where_and_how_to_get_it(
    tmp_path: Path, source: type[Source], file: str, get: str
) -> None:
    for root in (tmp_path, tmp_path / "absent"):
        rejected(source(str(root)), file, str(root), get, "data.root", "MOORING_DATA")
    with pytest.raises(DataError):
        source(str(tmp_path)).test()


def test_incomplete_copy_names_what_it_lacks(tmp_path: Path) -> None:
    missing = write_cifar10(tmp_path) / "data_batch_4"
    missing.unlink()
    rejected(Cifar10(str(tmp_path)), f"{missing} not found")


def test_root_is_given_or_in_the_environment_or_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MOORING_DATA", str(tmp_path / "variable"))
    assert data_root("given") == Path("given").absolute()
    assert data_root("~/given") == tmp_path / "given"
    assert data_root(None) == tmp_path / "variable"
    monkeypatch.delenv("MOORING_DATA")
    assert data_root(None) == tmp_path / ".cache" / "mooring"
    with pytest.raises(DataError, match="absolute path"):
        data_root("~nobody-of-this-name/data")


def test_set_scattered_over_folders_is_not_found(tmp_path: Path) -> None:
    for name in ("a/one", "b/two"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    with pytest.raises(DataError, match="a/two not found"):
        find(str(tmp_path), ("one", "two"), ("a", "b"), "fetch them")
    (tmp_path / "b" / "one.gz").touch()
    assert find(str(tmp_path), ("one", "two"), ("a", "b"), "", ("", ".gz"))[0] == tmp_path / "b" / "one.gz"


def test_own_data_has_no_default(tmp_path: Path) -> None:
    for root in (None, "", str(tmp_path / "absent"), "nul\0byte"):
        with pytest.raises(DataError, match=r"set data\.root to a file"):
            own_path(root, "a file")


def test_survey_counts_what_is_there_and_tells_what_is_not(tmp_path: Path) -> None:
    write_cifar10(tmp_path)
    write_fashion(tmp_path)
    write_svhn(tmp_path)
    infos = {info.name: info for info in list_sources(str(tmp_path))}
    assert list(infos) == sorted(SOURCES.keys() - {"memory"})  # those come from Python
    assert (infos["cifar10"].train, infos["cifar10"].test, infos["cifar10"].classes) == (15, 3, 10)
    assert infos["fashion_mnist"].shape == (1, 28, 28)
    assert (infos["fashion_mnist"].train, infos["fashion_mnist"].test) == (12, 4)
    assert (infos["svhn"].train, infos["svhn"].test) == (10, 4)
    assert infos["svhn"].nbytes == sum(path.stat().st_size for path in tmp_path.glob("*.mat"))
    assert (infos["digits"].found, infos["digits"].train, infos["digits"].test) == (True, 1437, 360)
    assert infos["cifar100"].found is False
    assert "cifar-100-python.tar.gz" in infos["cifar100"].note
    assert infos["arrays"].found is None
    assert "train_images" in infos["arrays"].note
    assert "<site>/<class>" in infos["image_folder"].note


@pytest.mark.parametrize("content", [b"rubbish", b"", pickle.dumps({"data": 1}), pickle.dumps([2, 3073])])
def test_survey_of_a_broken_file_is_a_note(tmp_path: Path, content: bytes) -> None:
    (write_cifar10(tmp_path) / "test_batch").write_bytes(content)
    info = {info.name: info for info in list_sources(str(tmp_path))}["cifar10"]
    assert info.found is False
    assert "test_batch" in info.note


@pytest.mark.parametrize("protocol", [0, 1, 2, 4])
def test_survey_counts_as_reading_does(tmp_path: Path, protocol: int) -> None:
    write_cifar100(tmp_path, protocol)
    seen = Cifar100(str(tmp_path)).overview()
    assert (seen.train, seen.test) == (len(Cifar100(str(tmp_path)).train()), len(Cifar100(str(tmp_path)).test()))
