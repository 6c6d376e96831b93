"""From Python: `mooring.run` and `mooring.sweep` do what the command line does; results are arrays, frames, figures."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import matplotlib as mpl
import numpy as np
import own_models
import pytest
import source_files

import mooring
from mooring.api import _progress
from mooring.data import Digits
from mooring.fusion import FeatureEnsemble

mpl.use("agg")
QUICK = {"rounds": 2, "local_epochs": 1, "limit": 150, "clients": 3, "alpha": 0.5, "workers": 1, "verbose": False}
WORDS = ["training.rounds=2", "training.local_epochs=1", "data.limit=150", "partition.clients=3", "partition.alpha=0.5"]
TEST = Digits().test()


@pytest.fixture(scope="module")
def v12(tmp_path_factory):
    return mooring.run("v12", **QUICK, out=tmp_path_factory.mktemp("python") / "v12")


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Three methods, one of them a value under a name of its own, two seeds, data in memory, an own model."""
    train = Digits().train()
    methods = {"v4": "v4", "afl": "afl", "mine": mooring.METHODS["v7"]}
    few = {key: value for key, value in QUICK.items() if key not in ("verbose", "clients", "alpha")}
    return mooring.sweep(
        methods, seeds=range(2), baseline="v4", out=tmp_path_factory.mktemp("python") / "sweep", data=train, test=TEST,
        clients=np.arange(len(train)) % 3, model=own_models.flat, **few,
    )  # fmt: skip


def test_python_and_the_command_line_give_the_same_bytes(v12, cli, tmp_path, monkeypatch):
    code, _, _ = cli("run", "method=v12", *WORDS, "engine.workers=1", f"out={tmp_path / 'run'}")
    assert code == 0
    here, there = (mooring.load_run(path) for path in (v12.path, tmp_path / "run"))
    assert here.result.fingerprint == there.result.fingerprint
    assert here.accuracy == there.accuracy
    assert [upload.sha256 for upload in here.result.uploads] == [upload.sha256 for upload in there.result.uploads]
    np.testing.assert_array_equal(here.lambdas, there.lambdas)


def test_images_in_memory_give_the_bytes_of_the_same_images_in_a_file(tmp_path, cli):
    train = Digits().train()
    arrays = {"images": train.images[:150].numpy(), "labels": train.labels[:150].numpy()}
    tested = {"images": TEST.images.numpy(), "labels": TEST.labels.numpy()}
    named = {f"{part}_{key}": value for part, of in (("train", arrays), ("test", tested)) for key, value in of.items()}
    np.savez(tmp_path / "digits.npz", **named)
    words = [*WORDS[:2], *WORDS[3:], "data=arrays", f"data.root={tmp_path / 'digits.npz'}", "model=digits_net"]
    code, _, err = cli("run", "method=v7", *words, f"out={tmp_path / 'file'}")
    assert code == 0, err
    few = {key: value for key, value in QUICK.items() if key != "limit"}
    memory = mooring.run("v7", data=tuple(arrays.values()), test=tuple(tested.values()), model="digits_net", **few,
                         out=tmp_path / "memory")  # fmt: skip
    file = mooring.load_run(tmp_path / "file")
    assert memory.accuracy == file.accuracy
    assert [upload.sha256 for upload in memory.result.uploads] == [upload.sha256 for upload in file.result.uploads]


def test_a_run_has_arrays_of_rounds_and_clients(v12):
    assert v12.lambdas.shape == v12.effective_lambdas.shape == v12.equilibrium_lambdas.shape == (2, 3)
    assert v12.accuracies.shape == (2,)
    assert v12.accuracies[-1] == v12.accuracy == v12.metrics.accuracy
    last = {row.client: row for row in v12.result.last.clients}
    assert v12.lambdas[-1].tolist() == [last[client].lambda_raw for client in range(3)]
    assert v12.effective_lambdas[-1].tolist() == [last[client].lambda_felt for client in range(3)]
    assert np.isfinite(v12.equilibrium_lambdas).all()
    low, high = v12.interval
    assert low < v12.accuracy < high


def test_a_frame_has_one_row_per_round_and_client(v12, swept):
    frame = v12.to_frame()
    assert len(frame) == 2 * 3
    assert frame["round"].tolist() == [1, 1, 1, 2, 2, 2]
    assert frame.pivot(index="round", columns="client", values="lambda").to_numpy().tolist() == v12.lambdas.tolist()
    runs = swept.to_frame()
    assert len(runs) == 6
    assert set(runs["method"]) == {"v4", "afl", "mine"}
    assert set(swept.summary()["n"]) == {2}


def test_figures_are_axes_that_show_every_client(v12, swept):
    lines = v12.plot("lambda").get_lines()
    assert len(lines) == 2 * 3  # effective, and equilibrium
    assert lines[0].get_ydata().tolist() == v12.effective_lambdas[:, 0].tolist()
    accuracy = v12.plot("accuracy")
    assert accuracy.get_lines()[0].get_ydata().tolist() == v12.accuracies.tolist()
    assert v12.plot("base_loss", ax=accuracy) is accuracy
    assert next(label.get_text() for label in swept.plot().get_yticklabels()).endswith(")")  # the track
    with pytest.raises(mooring.MooringError, match="did you mean 'lambda'"):
        v12.plot("lamda")
    mpl.pyplot.close("all")


def test_a_run_and_a_sweep_are_short_to_read(v12, swept):
    assert repr(v12) == f"Run(method='v12', accuracy={v12.accuracy:.3f}, data='digits', clients=3, rounds=2, seed=1)"
    assert len(repr(v12.result)) < 150
    assert repr(swept).startswith("Sweep(runs=6, best={")
    for card in (v12._repr_html_(), swept._repr_html_()):
        assert card.startswith("<div")
        assert len(card) < 3000
    assert "95 % CI" in v12._repr_html_()


def test_a_sweep_keeps_tracks_apart(swept):
    assert set(swept.tracks) == {"trained from scratch", "statistics only"}
    assert swept.best["statistics only"] == "afl"
    assert swept.failures == {}
    assert "statistics only" in swept._repr_html_()


def test_a_sweep_from_python_is_one_of_the_command_line(swept, cli):
    code, _, err = cli("report", str(swept.path), "--format", "csv", "--trust-code")
    assert code == 0, err
    assert json.loads((swept.path / "sweep.json").read_text())["baseline"] == "method=v4"
    assert swept.report("latex").exists()


def test_a_figure_and_a_table_for_a_paper_are_one_call_each(swept, v12, tmp_path):
    assert swept.save_figure("final-accuracy-trained-from-scratch", tmp_path / "a.pdf").read_bytes()[:4] == b"%PDF"
    assert swept.save_table("results", tmp_path / "results.tex").read_text().startswith("\\begin{tabular}")
    assert v12.save_table("results", tmp_path / "results.csv").read_text().startswith("experiment,")
    with pytest.raises(mooring.MooringError, match="did you mean 'results'"):
        swept.save_table("result", tmp_path / "results.tex")


def test_a_sweep_shows_how_many_runs_have_ended(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(_progress, "PATIENCE", 0.0)
    monkeypatch.setattr(_progress, "EVERY", 0.0)
    monkeypatch.setattr(_progress, "is_watched", lambda: True)
    mooring.sweep(["afl"], clients=2, limit=60, workers=1, out=tmp_path / "sweep")
    assert "sweep: 1 of 1 runs" in capsys.readouterr().err


def test_a_failed_run_is_a_warning_and_the_others_have_results(tmp_path):
    few = {"clients": 2, "limit": 60, "workers": 1, "rounds": 1, "local_epochs": 1}
    with pytest.warns(UserWarning, match=r"1 of 2 runs failed: v7-seed1: a simplex of 10 anchors needs 9 feature"):
        swept = mooring.sweep(["v4", "v7"], model=own_models.Plain, out=tmp_path / "sweep", **few)
    assert list(swept.results) == ["v4-seed1"]


def test_a_finished_sweep_is_returned_at_once_and_grows_by_a_seed(tmp_path):
    few = {"clients": 2, "limit": 60, "workers": 1, "rounds": 1, "local_epochs": 1, "out": tmp_path / "sweep"}
    first = mooring.sweep(["afl", "local-only"], seeds=[1], **few)
    dates = {name: run.result.date for name, run in first.runs.items()}
    second = mooring.sweep(["afl", "local-only"], seeds=[1, 2], **few)
    assert len(second.runs) == 4
    assert {name: run.result.date for name, run in second.runs.items() if name in dates} == dates


def test_settings_of_any_depth_are_keywords_or_a_mapping(tmp_path):
    result = mooring.run(
        "v7", **QUICK, fusion="class-expert", training={"momentum": 0.5}, overrides={"weight.base.value": 3},
        out=tmp_path / "run",
    )  # fmt: skip
    text = (result.path / "experiment.yaml").read_text()
    assert "momentum: 0.5" in text
    assert "kind: class-expert" in text
    assert "value: 3" in text


@dataclass(frozen=True)
class Named(FeatureEnsemble):
    kind: ClassVar[str] = "named"


def test_parts_are_given_as_values(tmp_path):
    result = mooring.run("v4", **QUICK, fusion=Named(), model=own_models.flat, out=tmp_path / "run")
    assert "kind: test_python:Named" in (result.path / "experiment.yaml").read_text()


MISTAKES = {
    r"lamda=3: unknown key; did you mean": {"lamda": 3},
    r"training\.lrr=1: unknown key; did you mean 'lr'": {"training": {"lrr": 1}},
    r"training\.rounds=0: must be 1 or more": {"rounds": 0},
    r"model\.kind=resnet9: unknown; did you mean 'resnet8'": {"model": "resnet9"},
    r"give the same key twice": {"rounds": 2, "overrides": {"training.rounds": 3}},
    r"clients: needs data in memory": {"clients": [0, 1]},
    r"def forward\(self, images\)": {"model": own_models.Plain()},
    r"<lambda> cannot be imported by name; write it at the top of a file": {"model": lambda: own_models.flat()[0]},
}


@pytest.mark.parametrize("message", MISTAKES)
def test_a_mistake_gets_the_suggestion_of_the_command_line(message):
    with pytest.raises(mooring.MooringError, match=message):
        mooring.run("v7", **MISTAKES[message])


def test_several_methods_are_a_sweep():
    with pytest.raises(mooring.MooringError, match=r"names 2 methods; use mooring\.sweep for several"):
        mooring.run("v4,v7")


class StoppedError(Exception):
    pass


class StopAfterFirstRound(mooring.Callback):
    def on_metric(self, name, value, round_):
        if name == "accuracy":
            raise StoppedError


def test_a_run_with_data_in_memory_goes_on_after_an_interruption(tmp_path):
    train = Digits().train()
    arguments = QUICK | {"data": (train.images[:150], train.labels[:150]), "rounds": 3}
    whole = mooring.run("v12", **arguments, out=tmp_path / "whole")
    with pytest.raises(StoppedError):
        mooring.run("v12", **arguments, out=tmp_path / "stopped", callbacks=[StopAfterFirstRound()])
    assert (tmp_path / "stopped/state").is_dir()
    resumed = mooring.run("v12", **arguments, out=tmp_path / "stopped")
    assert [one.sha256 for one in resumed.result.uploads] == [one.sha256 for one in whole.result.uploads]


def test_callbacks_see_every_number_in_order(tmp_path):
    seen = []

    class Recorder(mooring.Callback):
        def on_start(self, experiment, folder):
            seen.append(("start", experiment.name, Path(folder)))

        def on_metric(self, name, value, round_):
            seen.append((name, round_, value))

        def on_end(self, run):
            seen.append(("end", run.accuracy))

    result = mooring.run("v12", **QUICK, out=tmp_path / "run", callbacks=[Recorder()])
    assert seen[0] == ("start", "v12", tmp_path / "run")
    assert seen[-1] == ("end", result.accuracy)
    assert [value for name, _, value in seen[1:-1] if name == "accuracy"] == result.accuracies.tolist()
    felt = {(entry[0], entry[1]): entry[2] for entry in seen[1:-1] if entry[0] == "lambda_felt/client-2"}
    assert list(felt.values()) == result.effective_lambdas[:, 2].tolist()


BLOCK = """
import mooring
result = mooring.run("v12", data="svhn", root="data", clients=5, alpha=0.05, model="resnet8", rounds=50, local_epochs=1, seed=1)
sweep  = mooring.sweep(["v4", "v7", "v12"], seeds=range(3), data="svhn", root="data", rounds=1, local_epochs=1, workers=1)
result.accuracy; result.lambdas            # array (rounds, clients); also effective and equilibrium lambda
result.to_frame(); sweep.to_frame()        # pandas, one row per round and client / per run
result.plot("lambda"); result.plot("accuracy")   # matplotlib axes
result                                      # a short repr; an HTML card in Jupyter
"""  # noqa: E501


def test_the_first_lines_that_people_type_work_as_written(tmp_path, monkeypatch):
    """On files of SVHN's form with ten images."""
    (tmp_path / "data").mkdir()
    source_files.write_svhn(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    typed: dict[str, object] = {}
    exec(BLOCK, typed)
    assert typed["result"].lambdas.shape == (50, 5)
    assert len(typed["sweep"].to_frame()) == 9
    mpl.pyplot.close("all")
