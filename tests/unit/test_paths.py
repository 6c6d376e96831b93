"""Paths of an experiment: written absolute, so that a run opens from any folder; its identity stays as written."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from mooring.config import Experiment, as_yaml, load, load_experiment_of_run
from mooring.data._digits import Digits
from mooring.errors import ConfigError
from mooring.schema import FilePath

WORDS = [
    "data.source=image_folder",
    "data.root=images",
    "data.public.source=arrays",
    "data.public.root=./public.npz",
    "partition.kind=file",
    "partition.path=plans/one.json",
    "method=afl",
    "fusion.map.kind=encoder-file",
    "fusion.map.path=~/encoder.safetensors",
]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder in which the experiment is written, and the run folder beside it."""
    (tmp_path / "run").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path


def kept(experiment, folder):
    (folder / "experiment.yaml").write_text(as_yaml(experiment.tree()))
    return folder


def paths(experiment):
    return (
        experiment.data.root,
        experiment.data.public.root,
        experiment.partition.path,
        experiment.method.fusion.map.path,
    )


def test_relative_paths_become_absolute_and_stay_so_in_another_folder(here, monkeypatch):
    (experiment,) = load(None, WORDS)
    expected = [here / "images", here / "public.npz", here / "plans/one.json", here / "home/encoder.safetensors"]
    assert paths(experiment) == tuple(map(str, expected))
    folder = kept(experiment, here / "run")
    monkeypatch.chdir("/")
    (again,) = load(folder / "experiment.yaml")
    assert again == experiment
    assert again.label == experiment.label


def test_the_fingerprint_is_that_of_the_paths_as_written(here, monkeypatch):
    (experiment,) = load(None, WORDS)
    folder = kept(experiment, here / "run")
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    assert load(folder / "experiment.yaml")[0].fingerprint() == experiment.fingerprint()
    (same,) = load(None, WORDS)
    assert same.data.root != experiment.data.root
    assert same.fingerprint() == experiment.fingerprint()
    assert load(None, [*WORDS[:1], "data.root=other", *WORDS[2:]])[0].fingerprint() != experiment.fingerprint()


def test_fingerprints_with_paths_are_what_they_were(here):
    """Computed before paths were resolved."""
    words = [
        "method=v7",
        "data.source=image_folder",
        "data.root=images",
        "data.public.source=digits",
        "data.public.root=./pub",
    ]
    assert load(None, words)[0].fingerprint()[:8] == "9401702f"


def test_another_path_on_top_of_a_kept_experiment_is_another_experiment(here):
    folder = kept(load(None, WORDS)[0], here / "run")
    (other,) = load(folder / "experiment.yaml", ["data.root=/other"])
    (plain,) = load(None, [*WORDS[:1], "data.root=/other", *WORDS[2:]])
    assert other.fingerprint() == plain.fingerprint()
    assert str(here / "images") not in other.tree()["given"]


def test_an_experiment_made_in_python_is_written_the_same_way(here, monkeypatch):
    experiment = replace(Experiment(), data=Digits(root="images"))
    folder = kept(experiment, here / "run")
    monkeypatch.chdir("/")
    (again,) = load(folder / "experiment.yaml")
    assert again.data.root == str(here / "images")
    assert again.fingerprint() == experiment.fingerprint()


@dataclass(frozen=True)
class Deep:
    kind: ClassVar[str] = "deep"
    many: tuple[float, ...] = (1.0,)
    file: FilePath = "deep.bin"

    def build(self, initial, rng):
        return lambda _: initial


def test_a_users_own_part_can_hold_a_path(here):
    (experiment,) = load(None, ["method=v7", f"align.anchor={__name__}:Deep"])
    assert experiment.method.client.align.anchor.file == str(here / "deep.bin")


def test_a_run_without_paths_says_nothing_of_them():
    assert "given" not in Experiment().tree()


def test_files_that_were_moved_are_named_anew_and_the_experiment_is_the_same(here, monkeypatch):
    (experiment,) = load(None, WORDS)
    folder = kept(experiment, here / "run")
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    moved = load_experiment_of_run(
        folder, ["data.root=copied", "fusion.map.path=/e.safetensors", "data.public.root=/p.npz"]
    )
    plan = str(here / "plans/one.json")
    assert paths(moved) == (str(here / "elsewhere/copied"), "/p.npz", plan, "/e.safetensors")
    assert moved.fingerprint() == experiment.fingerprint()
    assert load_experiment_of_run(folder) == experiment


def test_data_that_lay_in_the_usual_place_can_be_named_too(here):
    (experiment,) = load(None, ["data.source=cifar10"])
    moved = load_experiment_of_run(kept(experiment, here / "run"), ["data.root=/sets"])
    assert moved.data.root == "/sets"
    assert moved.fingerprint() == experiment.fingerprint()
    assert moved.tree()["data"]["root"] == "/sets"


def test_nothing_but_a_path_can_be_changed_after_training(here):
    folder = kept(load(None, WORDS)[0], here / "run")
    with pytest.raises(ConfigError) as caught:
        load_experiment_of_run(folder, ["seed=3", "data.limit=5", "fusion=iffi", "data.root="])
    valid = "data.root, data.public.root, partition.path, method.fusion.map.path"
    assert caught.value.problems == (
        f"seed=3: cannot be changed after training; only paths can: {valid}",
        f"data.limit=5: cannot be changed after training; only paths can: {valid}",
        f"fusion=iffi: cannot be changed after training; only paths can: {valid}",
        "data.root=: must be a path",
    )
