"""Images that stay in their files give the same bytes as images in memory, and few of them are decoded at once."""

import json

import pytest
import torch
from federated import CHEAP, Federated, write_sites

from mooring import load, run_experiment
from mooring.data import FileImages, ImageFolder
from mooring.errors import DataError
from mooring.federation._train import folder_of
from mooring.uploads import FEATURE_BATCH, Mixtures

SITES = {"north": (40, 40, 40, 40), "south": (40, 40, 40, 40), "east": (40, 40, 40, 40)}
FEW = "data.max_bytes=2000"  # bytes: a few images of 16 x 16 pixels
TIMES = ("seconds", "server_seconds", "spent", "date", "sha256", "command", "files")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_sites(tmp_path_factory.mktemp("sites"), SITES, side=16)


def source(root, **words):
    return ImageFolder(str(root), size=16, channels=1, **words)


def ended(folder, root, *words):
    """The uploads and the result of a run, without what a clock says."""
    settings = ["data.source=image_folder", f"data.root={root}", "training.rounds=1", "training.local_epochs=1"]
    (experiment,) = load(overrides=[*settings, *words, f"out={folder}"])
    run_experiment(experiment)
    uploads = {path.name: path.read_bytes() for path in (folder / "uploads").rglob("*.safetensors")}
    return uploads, timeless(json.loads((folder / "result.json").read_text()))


def timeless(tree):
    if isinstance(tree, dict):
        return {name: timeless(value) for name, value in tree.items() if name not in TIMES}
    return [timeless(value) for value in tree] if isinstance(tree, list) else tree


@pytest.mark.parametrize(
    "words",
    [
        ("method=mooring", *CHEAP, "engine.workers=1"),
        ("method=mooring", *CHEAP, "engine.workers=2", "data.validation=0.1"),
        ("method=v4", "data.size=16", "data.channels=1", "engine.workers=1"),
    ],
)
def test_a_run_from_files_writes_the_same_bytes(words, root, tmp_path):
    assert ended(tmp_path / "files", root, *words, FEW) == ended(tmp_path / "memory", root, *words)


def test_a_site_trains_from_files_as_from_memory(root, tmp_path):
    (tmp_path / "images").symlink_to(root)
    federated = Federated(tmp_path)
    kept, streamed = (
        folder_of(federated.job, "north", federated.data("north")),
        folder_of(federated.job, "north", federated.data("north")),
    )
    object.__setattr__(streamed, "images", source(root, max_bytes=2000))
    one, other = kept.shard(), streamed.shard()
    assert isinstance(other.images, FileImages)
    part, blueprint = next(iter(federated.job.work.needs)), federated.job.work.blueprint
    network = blueprint.build(torch.Generator())
    for name, tensor in part(network, one).items():
        assert torch.equal(part(network, other)[name], tensor)
    mixtures = Mixtures(part.map, 2)
    for name, tensor in mixtures(network, one).items():
        assert torch.equal(mixtures(network, other)[name], tensor)


def test_only_a_batch_is_decoded_at_once(root, tmp_path, monkeypatch):
    lengths = []
    decode = FileImages.__getitem__

    def counted(images, chosen):
        pixels = decode(images, chosen)
        lengths.append(len(pixels))
        return pixels

    monkeypatch.setattr(FileImages, "__getitem__", counted)
    ended(
        tmp_path / "run",
        root,
        "method=mooring",
        *CHEAP,
        FEW,
        "engine.workers=1",
        "partition=iid",
        "partition.clients=1",
    )
    assert 0 < max(lengths) <= FEATURE_BATCH < sum(lengths)


def test_images_in_files_are_those_in_memory(root):
    memory, files = source(root).train(), source(root, max_bytes=2000).train()
    assert isinstance(files.images, FileImages)
    assert (files.shape, files.labels.tolist(), files.sites) == (memory.shape, memory.labels.tolist(), memory.sites)
    assert files.sha256() == memory.sha256()
    some = torch.tensor([5, 0, 7])
    assert torch.equal(files.images[some], memory.images[some])
    assert torch.equal(files.select(some).images[1:], memory.select(some).images[1:])
    assert files.select(some).sha256() == memory.select(some).sha256()
    assert files.identity() == memory.identity() != files.select(some).identity()


@pytest.mark.parametrize(
    "spoil", [lambda path, other: path.write_bytes(other.read_bytes()), lambda path, _: path.unlink()]
)
def test_a_file_that_changes_in_use_is_an_error(spoil, tmp_path):
    root = write_sites(tmp_path / "sites", {"north": (4, 4, 0, 0), "south": (0, 0, 4, 4)}, side=16)
    images = source(root, max_bytes=300).train().images
    spoil(images.paths[0], images.paths[-1])
    assert len(images[1:]) == len(images) - 1
    with pytest.raises(DataError, match="has changed while it was in use"):
        images[:1]
