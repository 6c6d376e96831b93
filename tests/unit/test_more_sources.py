"""MNIST, EMNIST, MedMNIST, Tiny-ImageNet and folders of domains, read from small files in their official layouts."""

import gzip
import struct

import numpy as np
import pytest
from PIL import Image

from mooring import load
from mooring.data import SOURCES, federate
from mooring.data._partition import PARTITIONERS, Population, divide
from mooring.errors import DataError

RNG = np.random.default_rng(0)


def write_idx(path, array, zipped=True):
    data = (
        bytes((0, 0, 8, array.ndim)) + struct.pack(f">{array.ndim}I", *array.shape) + array.astype(np.uint8).tobytes()
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_name(path.name + ".gz" * zipped).write_bytes(gzip.compress(data) if zipped else data)


def write_pair(folder, names, labels, zipped=True):
    images = RNG.integers(0, 256, (len(labels), 28, 28), dtype=np.uint8)
    for name, array in zip(names, (images, np.array(labels)), strict=True):
        write_idx(folder / name, array, zipped)
    return images


def test_mnist_is_read_where_torchvision_puts_it(tmp_path):
    folder = tmp_path / "MNIST/raw"
    train = write_pair(folder, ("train-images-idx3-ubyte", "train-labels-idx1-ubyte"), [3, 1, 4], zipped=False)
    write_pair(folder, ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"), [1, 5], zipped=False)
    source = SOURCES["mnist"](str(tmp_path))
    assert (source.train().images[:, 0].numpy() == train).all()
    assert source.test().labels.tolist() == [1, 5]
    assert (source.overview().train, source.overview().test) == (3, 2)
    assert not source.mirror


def test_emnist_images_are_turned_upright_and_letters_begin_at_a(tmp_path):
    for part in ("train", "test"):
        names = (f"emnist-letters-{part}-images-idx3-ubyte", f"emnist-letters-{part}-labels-idx1-ubyte")
        stored = write_pair(tmp_path / "emnist", names, [1, 26, 2])
    found = SOURCES["emnist"](str(tmp_path), split="letters").test()
    assert (found.images[:, 0].numpy() == stored.transpose(0, 2, 1)).all()
    assert [found.classes[label] for label in found.labels] == ["a", "z", "b"]
    with pytest.raises(DataError, match=r"emnist-balanced-train-images-idx3-ubyte.*not found"):
        SOURCES["emnist"](str(tmp_path)).train()


def test_a_file_of_medmnist_is_read_as_it_is(tmp_path):
    parts = {}
    for part, count in (("train", 6), ("val", 2), ("test", 4)):
        parts[f"{part}_images"] = RNG.integers(0, 256, (count, 28, 28, 3), dtype=np.uint8)
        parts[f"{part}_labels"] = (np.arange(count) % 2).astype(np.uint8)[:, None]  # (N, 1)
    np.savez(tmp_path / "bloodmnist.npz", **parts)
    source = SOURCES["arrays"](str(tmp_path / "bloodmnist.npz"))
    assert source.train().images.shape == (6, 3, 28, 28)
    assert source.test().labels.tolist() == [0, 1, 0, 1]


def picture(path, shade):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), (shade, 255 - shade, 7)).save(path)


def test_tiny_imagenet_tests_on_its_validation_part(tmp_path):
    for number, label in enumerate(("n01", "n02")):
        for i in range(3):
            picture(tmp_path / f"train/{label}/images/{label}_{i}.png", 40 * number + i)
    lines = []
    for i, label in enumerate(("n02", "n01", "n02")):
        picture(tmp_path / f"val/images/val_{i}.png", 100 + i)
        lines.append(f"val_{i}.png\t{label}\t0\t0\t62\t62")
    (tmp_path / "val/val_annotations.txt").write_text("\n".join(lines))
    source = SOURCES["tiny_imagenet"](str(tmp_path))
    train, test = source.train(), source.test()
    assert (train.images.shape, train.classes) == ((6, 3, 64, 64), ("n01", "n02"))
    assert test.labels.tolist() == [1, 0, 1]
    (tmp_path / "val/val_annotations.txt").write_text("val_0.png\tn77")
    with pytest.raises(DataError, match="names 'n77', not a class of train"):
        source.test()


def test_domains_are_sites_without_being_asked_for(tmp_path):
    for domain in ("photo", "sketch"):  # as PACS and DomainNet lie
        for label in ("dog", "horse"):
            for i in range(5):
                picture(tmp_path / domain / label / f"{i}.png", 50 * i)
    [experiment] = load(overrides=["method=v4", "data=image_folder", f"data.root={tmp_path}", "data.size=16"])
    federation = federate(experiment.data, experiment.partition, seed=1)
    assert [site.name for site in federation.sites()] == ["photo", "sketch"]


def test_labels_and_sizes_are_skewed_at_once():
    population = Population(np.arange(5000) % 10, 10)
    skewed, equal = (
        divide(PARTITIONERS["dirichlet_sizes"](clients=8, alpha=0.1, size_alpha=size), population, seed=3)
        for size in (0.5, 1e6)
    )
    assert sum(skewed.sizes) == sum(equal.sizes) == 5000
    assert skewed.overlap == skewed.coverage == 1
    assert skewed.size_variation > 0.5
    assert equal.size_variation < 0.01
    assert skewed.normalised_entropy.mean() < 0.6
