"""What a dashboard shows is what the run folder says, read back with the dashboards' own readers."""

import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import mooring
from mooring import load, run_experiment
from mooring.events import ClientRecord, SnapshotFused
from mooring.record import RunFolder
from mooring.track import TRACKERS, Live, Mlflow, TensorBoard, Wandb, track
from mooring.track._dashboard import metric_points, plain_settings

WHY = "TensorBoard and MLflow: the extra track is not installed"
TRACED = ("base_loss", "align_loss", "lambda_raw", "lambda_felt", "lambda_star")
SMALL = ["training.rounds=2", "training.local_epochs=1", "engine.workers=1", "partition.clients=2", "data.limit=120"]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run of two clients and two rounds with a learned lambda."""
    folder = tmp_path_factory.mktemp("runs") / "v10"
    [experiment] = load(overrides=["method=v10", *SMALL, f"out={folder}"])
    run_experiment(experiment)
    return folder


@pytest.fixture
def half(finished, tmp_path):
    """The same run as it was after its first fused round."""
    folder = tmp_path / "half"
    shutil.copytree(finished, folder)
    (folder / "result.json").unlink()
    lines = (folder / "events.jsonl").read_text().splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if json.loads(line)["event"] == "fused")
    (folder / "events.jsonl").write_text("".join(lines[: end + 1]) + '{"event": "cut off')
    return folder


@pytest.fixture
def sweep(finished, tmp_path):
    for name in ("a", "b"):
        shutil.copytree(finished, tmp_path / "sweep/runs" / name)
    (tmp_path / "sweep/runs/not-begun").mkdir()
    return tmp_path / "sweep"


def expected(folder):
    """Every number of the events by name and round, as the events have it."""
    found = {}
    for event in (timed.event for timed in RunFolder(folder).events):
        match event:
            case SnapshotFused(round=round_, accuracy=accuracy):
                found["accuracy", round_] = accuracy
            case ClientRecord(client=client, round=round_):
                found |= {(f"{name}/client-{client}", round_): getattr(event, name) for name in TRACED}
    return found


def test_a_tracked_run_tells_every_number_of_the_events(finished):
    told = {(point.name, point.round): point.value for point in metric_points(RunFolder(finished).record)}
    wanted = expected(finished)
    assert len(wanted) == 2 + 2 * 2 * len(TRACED)
    assert {key: told[key] for key in wanted} == wanted
    rows = RunFolder(finished).result.rounds
    own = {(f"accuracy_alone/client-{c.client}", row.round): c.accuracy for row in rows for c in row.clients}
    assert {key: told[key] for key in own} == own


def test_settings_are_paths_as_on_the_command_line(finished):
    settings = plain_settings(RunFolder(finished))
    assert settings["training.rounds"] == 2
    assert settings["method.name"] == "v10"
    assert settings["method.client.terms.1.temperature"] == 0.07
    assert "partition.seed" not in settings  # null


def test_what_is_not_a_number_is_not_shown(half):
    with (half / "events.jsonl").open("a") as file:
        file.write(
            '\n{"time": 1.0, "event": "round", "client": 9, "round": 0, "lambda_felt": null, "base_loss": 2.5}\n'
        )
    told = [point.name for point in metric_points(RunFolder(half).record) if "client-9" in point.name]
    assert told == ["base_loss/client-9"]


def test_a_round_told_twice_counts_once(half):
    before = metric_points(RunFolder(half).record)
    with (half / "events.jsonl").open("a") as file:
        file.write('\n{"time": 1.0, "event": "fused", "round": 0, "accuracy": 0.125}\n')
    after = metric_points(RunFolder(half).record)
    assert len(after) == len(before)
    assert [point.value for point in after if point.name == "accuracy"] == [0.125]


def scalars(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    shown = EventAccumulator(str(folder))
    shown.Reload()
    return {(tag, event.step): event.value for tag in shown.Tags()["scalars"] for event in shown.Scalars(tag)}, shown


def test_tensorboard_shows_the_run(finished, tmp_path):
    pytest.importorskip("tensorboard", reason=WHY)
    assert track(finished, TensorBoard(tmp_path / "tb")) == ["v10"]
    told, shown = scalars(tmp_path / "tb/v10")
    wanted = expected(finished)
    assert {key: told[key] for key in wanted} == pytest.approx(wanted)
    assert told["final/accuracy", 1] == pytest.approx(RunFolder(finished).result.accuracy)
    times = {
        timed.event.round: timed.time for timed in RunFolder(finished).events if isinstance(timed.event, SnapshotFused)
    }
    assert {event.step: event.wall_time for event in shown.Scalars("accuracy")} == times


def test_tensorboard_knows_the_settings(finished, tmp_path):
    pytest.importorskip("tensorboard", reason=WHY)
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    track(finished, TensorBoard(tmp_path))
    _, shown = scalars(tmp_path / "v10")
    begun = HParamsPluginData.FromString(
        shown.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    ).session_start_info
    assert begun.hparams["training.lr"].number_value == 0.05
    assert begun.hparams["method.name"].string_value == "v10"


def test_tensorboard_follows_a_run_without_telling_twice(half, finished, tmp_path):
    pytest.importorskip("tensorboard", reason=WHY)
    tracker = TensorBoard(tmp_path / "tb")
    track(half, tracker)
    assert ("final/accuracy", 1) not in scalars(tmp_path / "tb/half")[0]
    for name in ("events.jsonl", "result.json"):
        shutil.copy(finished / name, half / name)
    (tmp_path / "tb/half/mine.txt").write_text("stays")
    track(half, tracker)
    track(half, tracker)
    assert len(list((tmp_path / "tb/half").iterdir())) == 2
    _, shown = scalars(tmp_path / "tb/half")
    assert [event.step for event in shown.Scalars("accuracy")] == [0, 1]


def test_every_run_of_a_sweep_is_shown(sweep, tmp_path, cli):
    pytest.importorskip("tensorboard", reason=WHY)
    code, out, err = cli("track", sweep, "--to", "tensorboard", "--out", "tb")
    assert (code, out, err) == (0, "2 runs in tb\n", "")
    assert scalars(tmp_path / "tb/sweep/a")[0] == pytest.approx(scalars(tmp_path / "tb/sweep/b")[0])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's use of SQLAlchemy
def test_mlflow_shows_and_follows_runs(half, finished, tmp_path):
    pytest.importorskip("mlflow", reason=WHY)
    pytest.importorskip("sqlalchemy", reason=WHY)
    pytest.importorskip("alembic", reason=WHY)
    from mlflow import MlflowClient

    tracker = Mlflow(tmp_path / "deep/mlflow.db")
    track(half, tracker)
    client = MlflowClient(f"sqlite:///{tmp_path / 'deep/mlflow.db'}")
    where = client.get_experiment_by_name("mooring").experiment_id
    (shown,) = client.search_runs([where])
    assert (shown.info.status, shown.info.run_name) == ("RUNNING", "half")
    for name in ("events.jsonl", "result.json"):
        shutil.copy(finished / name, half / name)
    track(half, tracker)
    track(half, tracker)
    (shown,) = client.search_runs([where])
    assert shown.info.status == "FINISHED"
    assert shown.data.params["training.lr"] == "0.05"
    assert shown.data.params["method.name"] == "v10"
    assert shown.data.metrics["final/accuracy"] == RunFolder(finished).result.accuracy
    assert shown.data.tags["mooring.fingerprint"] == RunFolder(finished).result.fingerprint
    wanted = expected(finished)
    told = [
        ((name, metric.step), metric.value)
        for name in {name for name, _ in wanted}
        for metric in client.get_metric_history(shown.info.run_id, name)
    ]
    assert len(told) == len(wanted)  # nothing twice
    assert dict(told) == wanted


def test_mistakes_are_told_in_one_line(finished, cli):
    Path("text.db").write_text("hello, I am no database")
    for arguments, told in (
        ((finished, "--to", "mlfow"), "did you mean 'mlflow'?"),
        ((".", "--to", "mlflow"), "is neither a run nor a sweep"),
        ((finished, "--to", "mlflow", "--out", "text.db"), "is not an SQLite file"),
        ((finished, "--to", "mlflow", "--out", "text.db/x"), "cannot be written"),
    ):
        code, out, err = cli("track", *arguments)
        assert (code, out) == (2, ""), arguments
        assert told in err
        assert len(err.splitlines()) == 1


def test_a_run_of_the_command_line_is_shown_while_it_goes_on(cli, tmp_path):
    pytest.importorskip("tensorboard", reason=WHY)
    code, _, err = cli("run", "method=v4", *SMALL, f"out={tmp_path / 'run'}", "--track", "tensorboard", "--quiet")
    assert code == 0, err
    told, _ = scalars(Path("tensorboard/run"))
    wanted = expected(tmp_path / "run")
    assert {key: told[key] for key in wanted if key in told} == pytest.approx(
        {key: value for key, value in wanted.items() if key in told}
    )
    assert ("final/accuracy", 1) in told
    code, _, err = cli("run", "method=v4", *SMALL, "out=other", "--track", "tensorbord")
    assert (code, err) == (2, "error: --track tensorbord: unknown; did you mean 'tensorboard'?\n")
    assert not Path("other").exists()


@pytest.mark.parametrize("name", TRACKERS)
def test_a_missing_package_is_named_with_its_remedy(name, finished, cli, monkeypatch):
    for package in ("mlflow", "tensorboard", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, package, None)
    code, out, err = cli("track", finished, "--to", name)
    assert (code, out) == (2, "")
    assert "pip install 'mooring[track]'" in err


QUICK = {"rounds": 2, "local_epochs": 1, "limit": 60, "clients": 2, "workers": 1, "verbose": False}


def test_a_dashboard_is_updated_while_the_run_goes_on(tmp_path):
    seen = []

    class Recorder:
        usual = "nowhere"

        def require(self):
            seen.append("required")

        def write(self, run, settings):
            seen.append((sorted(run.fused), run.result is not None, settings["training.rounds"]))

    mooring.run("v4", **QUICK, out=tmp_path / "run", callbacks=[Live(Recorder())])
    assert seen == ["required", ([0], False, 2), ([0, 1], False, 2), ([0, 1], True, 2)]


def test_weights_and_biases_get_every_number_and_are_offline_by_default(tmp_path, monkeypatch):
    """With a stand-in that has the interface of wandb: init, log, summary and finish."""
    logged = []
    standin = types.SimpleNamespace(log=logged.append, summary={}, finish=lambda: logged.append("finished"))
    asked = {}
    module = types.ModuleType("wandb")
    module.init = lambda **options: asked.update(options) or standin
    monkeypatch.setitem(sys.modules, "wandb", module)
    result = mooring.run("v4", **QUICK, out=tmp_path / "run", callbacks=[Wandb("lab")])
    assert (asked["project"], asked["mode"], asked["name"]) == ("lab", "offline", "run")
    assert [entry["accuracy"] for entry in logged[:-1] if "accuracy" in entry] == result.accuracies.tolist()
    assert standin.summary["final/accuracy"] == result.accuracy
    assert logged[-1] == "finished"


IN_A_PROGRAM = """
import mooring
from mooring.track import Wandb
few = {"rounds": 2, "local_epochs": 1, "limit": 60, "clients": 2, "workers": 1}
result = mooring.run("v7", **few, out="run", callbacks=[Wandb("lab")])
print(result.accuracy, *result.effective_lambdas.flat)
"""


def test_the_real_package_keeps_every_number_offline(tmp_path):
    """What it has written is read once the program has ended: it writes in a process of its own."""
    pytest.importorskip("wandb", reason="Weights & Biases: the package wandb is not installed")
    environment = os.environ | {"WANDB_SILENT": "true", "WANDB_CACHE_DIR": str(tmp_path)}
    told = subprocess.run(
        [sys.executable, "-c", IN_A_PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    [file] = tmp_path.glob("wandb/offline-run-*/*.wandb")
    kept = file.read_bytes()
    names = ("lambda_felt/client-0", "lambda_felt/client-1", "final/accuracy", "lab", *told.stdout.split())
    assert [name for name in names if name.encode() not in kept] == []
