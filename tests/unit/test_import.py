"""A log becomes a run folder that says what the log says, and null for the rest."""

import json
from math import isnan
from pathlib import Path

import pytest
from old_logs import CONFIG, STYLES, log_of, v10_rounds, v11_rounds

from mooring import report
from mooring.config import load
from mooring.config._tree import read_file
from mooring.doctor import case_of_log, examine, read_case
from mooring.events import ClientRecord, Remark, SnapshotFused
from mooring.notes._imports import import_log, read_imports
from mooring.record import RunFolder, Seeds

FULL = str(
    {
        "dataset": {"data_name": "CIFAR10", "train_batch_size": 512, "num_classes": 10},
        "distribution": {"type": "dirichlet", "alpha": 0.05},
        "client": {"num_clients": 5},
        "server": {"lr": 0.03, "momentum": 0.8, "model_name": "resnet18", "num_rounds": 4, "weight_decay": 0.0001},
        "seed": 7,
    }
)


@pytest.fixture
def v11(tmp_path):
    path = tmp_path / "v11.log"
    path.write_text(log_of("OneshotOursV11", v11_rounds()).replace(CONFIG, FULL))
    return path


@pytest.fixture
def several(tmp_path):
    path = tmp_path / "several.log"
    path.write_text(log_of("OneshotOursV12", v11_rounds()) + "\n" + log_of("OneshotOursV10", v10_rounds()))
    return path


def happened(folder):
    return [timed.event for timed in RunFolder(folder).events]


def test_the_result_says_what_the_log_says(v11, tmp_path):
    [(folder, _)] = import_log(v11, tmp_path / "run")
    result = RunFolder(folder).result
    assert result.origin.log == "v11.log"
    assert (result.method, result.dataset, result.complete) == ("v11-as-run-linear", "cifar10", True)
    assert [row.accuracy for row in result.rounds] == [0.30, 0.31, 0.32, 0.33]
    assert result.accuracy == 0.33
    assert result.seeds == Seeds(7, None)
    assert result.seconds == 1.0
    (client,) = result.rounds[1].clients
    assert client.lambda_raw == 17.0
    assert client.schedule_factor == 0.7
    assert client.lambda_felt == pytest.approx(0.7 * 17.0)
    assert client.accuracy == 0.31


def test_the_result_that_is_returned_is_the_one_on_disk(v11, several, tmp_path):
    for log, out in ((v11, tmp_path / "one"), (several, tmp_path / "two")):
        for folder, result in import_log(log, out):
            assert result.files
            assert result == RunFolder(folder).result


def test_what_a_log_does_not_tell_is_null(v11, tmp_path):
    [(folder, result)] = import_log(v11, tmp_path / "run")
    told = json.loads((folder / "result.json").read_text())
    untold = ("fingerprint", "data_sha256", "job_sha256", "upload_bytes", "download_bytes", "environment", "command")
    assert [told[key] for key in untold] == [None] * len(untold)
    metrics = told["rounds"][-1]["metrics"]
    assert [metrics[key] for key in ("balanced_accuracy", "macro_f1", "calibration_error")] == [None] * 3
    assert (result.metrics.confusion, result.uploads, result.partition.label_counts) == ((), (), ())
    assert {event.base_loss for event in happened(folder) if isinstance(event, ClientRecord)} == {None}


def test_events_are_those_of_a_run(v11, tmp_path):
    [(folder, _)] = import_log(v11, tmp_path / "run")
    events = happened(folder)
    told = [(type(event), event.round) for event in events if not isinstance(event, Remark)]
    assert told == [pair for r in range(4) for pair in ((ClientRecord, r), (SnapshotFused, r))]
    remarks = [event.text for event in events if isinstance(event, Remark)]
    assert remarks[0] == "a log holds no alignment loss: where L_a is named, it is inferred from lambda and sigma"
    assert remarks[1].startswith("v11-as-run-linear (inferred): the header is 'OneshotOursV11: something'; ")


def test_the_experiment_is_known_as_far_as_told(v11, tmp_path):
    [(folder, _)] = import_log(v11, tmp_path / "run")
    told = read_file(folder / "experiment.yaml")
    assert (told["method"], told["data"], told["model"]) == (
        "v11-as-run-linear",
        {"source": "cifar10"},
        {"kind": "resnet18"},
    )
    assert told["training"] == {"rounds": 4, "local_epochs": None, "batch_size": 512, "lr": 0.03, "momentum": 0.8}
    assert told["partition"] == {"kind": "dirichlet", "clients": 5, "alpha": 0.05}


def test_what_is_not_told_is_no_default_when_the_experiment_is_run(v11, tmp_path, cli):
    [(folder, _)] = import_log(v11, tmp_path / "run")
    code, _, err = cli("run", folder / "experiment.yaml")
    assert code == 2
    assert "training.local_epochs=null" in err


def test_an_experiment_of_which_everything_is_told_is_run_as_it_was(tmp_path):
    path = tmp_path / "x.log"
    path.write_text(STYLES["V7"].text())
    [(folder, _)] = import_log(path, tmp_path / "run")
    (experiment,) = load(folder / "experiment.yaml")
    assert (experiment.name, experiment.training.rounds, experiment.training.batch_size) == ("v7", 4, 512)
    assert experiment.method.client.align.weight.base.value == 10.0  # as it was printed, not as it was configured
    assert experiment.training.weight_decay == 0  # configured there and never used


COSINE = (1, 0.975, 0.904, 0.793, 0.654, 0.5, 0.345, 0.206, 0.095, 0.024)  # of note 3


@pytest.mark.parametrize(("factors", "name"), [([1 - r / 10 for r in range(10)], "linear"), (COSINE, "cosine")])
def test_v11_goes_by_the_schedule_that_its_factors_follow(tmp_path, factors, name):
    lines = []
    for r, a in enumerate(factors):
        lines.append(f"Round {r} starts---| Annealing Factor for this round: {a}")
        lines.append(f"Client 0 Learned Sigmas -> L_local: 3.0, L_align: 1.0. Effective Lambda: {9 / a:.4f}")
    path = tmp_path / "x.log"
    path.write_text(log_of("OneshotOursV11", lines))
    [(_, result)] = import_log(path, tmp_path / "run")
    assert result.method == f"v11-as-run-{name}", result.origin.evidence
    assert isnan(result.accuracy)
    assert json.loads((tmp_path / "run/result.json").read_text())["accuracy"] is None


@pytest.mark.parametrize(("label", "name"), [("OneshotOursV4", "v4"), ("OneshotOursV7", "v7")])
def test_a_label_counts_where_the_content_does_not_tell(tmp_path, label, name):
    path = tmp_path / "x.log"
    path.write_text(log_of(label, ["Round 0 starts--------|", "The test accuracy of Ours+Ensemble: 0.5"]))
    [(_, result)] = import_log(path, tmp_path / "run")
    assert (result.method, result.accuracy) == (name, 0.5)


def test_a_set_that_is_not_ours_keeps_its_name_and_is_not_run(tmp_path, cli):
    path = tmp_path / "x.log"
    path.write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, FULL.replace("CIFAR10", "Food-101")))
    [(folder, result)] = import_log(path, tmp_path / "run")
    assert result.dataset == "food-101"
    code, _, err = cli("run", folder / "experiment.yaml")
    assert code == 2
    assert "data.source=food-101: unknown" in err


@pytest.mark.parametrize("config", ["{'server': [1], 'dataset': {'data_name': {2: 3}}, 'seed': 1j}", "{'a': 1", "{}"])
def test_a_configuration_may_be_anything(tmp_path, config):
    path = tmp_path / "x.log"
    path.write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
    [(folder, result)] = import_log(path, tmp_path / "run")
    assert (result.method, result.complete, result.seeds.training) == ("v10", None, None)
    assert set(read_file(folder / "experiment.yaml")["training"].values()) == {None}
    assert report(folder).exists()


def test_the_doctor_says_of_the_folder_what_it_says_of_the_log(several, tmp_path, cli):
    for (folder, _), read in zip(import_log(several, tmp_path / "all"), read_imports(several), strict=True):
        ours, logs = examine(read_case(folder)), examine(case_of_log(read.record, read.settings, several.name))
        assert ours.findings == logs.findings
        assert ours.distances == logs.distances
        assert ours.remarks == ("imported from several.log", *logs.remarks)
        assert cli("doctor", folder)[0] == int(logs.ill)


def test_the_command_names_a_folder_for_every_experiment(several, v11, cli):
    code, out, err = cli("import", several, v11, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert [row["method"] for row in told] == ["v11-as-run-linear", "v10", "v11-as-run-linear"]
    assert all(RunFolder(Path(row["folder"])).result.origin for row in told)
    assert len({row["folder"] for row in told}) == 3
    assert told[2]["folder"].startswith("runs/cifar10-v11-as-run-linear-imported-")
    code, again, _ = cli("import", several, v11, "--json")  # the same logs are the same folders
    assert (code, again) == (0, out)
    code, out, _ = cli("import", v11, "out=here")
    assert "v11-as-run-linear (inferred) on cifar10, accuracy 0.3300, here\n  because the header is" in out


def test_what_reads_uploads_rejects_an_imported_run(v11, cli):
    assert cli("import", v11, "out=run")[0] == 0
    told = "was imported from v11.log"
    unknown = "training.local_epochs=null"  # the log does not tell it, so its experiment cannot be run again
    for command, why in {
        ("fuse", "run"): told,
        ("resume", "run"): told,
        ("run", "run/experiment.yaml"): unknown,
    }.items():
        code, out, err = cli(*command)
        assert (code, out) == (2, ""), command
        assert why in err
        assert len(err.splitlines()) == 1
    assert cli("clean", "run")[1] == "run: 0 B removed\n"


def test_mistakes_are_told_in_one_line(v11, cli):
    assert cli("import", v11, "out=run")[0] == 0
    Path("other.log").write_text(log_of("OneshotOursV10", v10_rounds()))
    Path("full").mkdir()
    Path("full/thing").write_text("mine")
    Path("hello.log").write_text("hello")
    for arguments, told in (
        (("out=run",), "must be logs and at most one out=FOLDER"),
        ((v11, "out="), "must be logs and at most one out=FOLDER"),
        (("none.log",), "none.log: cannot be read"),
        (("hello.log",), "hello.log: holds no round of the published code"),
        ((v11, "method=v7"), "method=v7: a log has its own settings"),
        ((v11, "old.yaml"), "must be one YAML file, or logs"),
        (("other.log", "out=run"), "of something else"),
        ((v11, "out=full"), "holds 'thing' of something else"),
        ((v11, "out=hello.log"), "cannot be written"),
    ):
        code, out, err = cli("import", *arguments)
        assert (code, out) == (2, ""), arguments
        assert told in err
        assert len(err.splitlines()) == 1
    assert [path.name for path in Path("full").iterdir() if path.name != ".lock"] == ["thing"]


def test_an_imported_run_has_a_report(v11, tmp_path):
    [(folder, _)] = import_log(v11, tmp_path / "run")
    page = report(folder).read_text("utf-8")
    assert "v11-as-run-linear" in page
    assert "0.330" in page


LACKING = {
    "": "is empty",
    "INFO epoch 3 of 200\n": "holds no round of the published code ('Round 0 starts'), no method",
    "config: {'seed': 1}\n": "contains a configuration, but neither a method ('Oneshot...') nor a round",
    "config: {'seed': 1}\nOneshotOursV12: x\nRuntimeError: CUDA out of memory\n": (
        "names OneshotOursV12: x, but no round ('Round 0 starts') follows, and ends with: RuntimeError: CUDA out of"
    ),
    "OneshotFedAvg\nRound 0 starts--------|\nTraceback (most recent call last):\nKeyError: 'lr'\n": (
        "begins round 0 of OneshotFedAvg, and no client trains in it, and ends with: KeyError: 'lr'"
    ),
    "OneshotOurs\nRound 0 starts---|\nClient 2 Starts Local Trainning---|\n"
    "Epoch 0 loss: 1.0; train accuracy: 0.5; test accuracy: 0.4\n": (
        "is cut off in round 0 of OneshotOurs, while client 2 trains: no accuracy of the server"
    ),
    "Client 0 Starts Local Trainning\nEpoch 0 loss: 1.0; train accuracy: 0.5; test accuracy: 0.4\n": (
        "contains epochs but no round ('Round 0 starts')"
    ),
}


@pytest.mark.parametrize("lines", LACKING)
def test_a_log_that_is_rejected_says_what_is_missing(tmp_path, cli, lines):
    path = tmp_path / "x.log"
    path.write_text(lines)
    code, out, err = cli("import", path)
    assert (code, out) == (2, "")
    assert LACKING[lines] in err
    assert len(err.splitlines()) == 1


def test_experiments_that_hold_nothing_are_named_beside_those_that_do(tmp_path):
    path = tmp_path / "x.log"
    path.write_text("config: {'seed': 1}\nOneshotOursV7 with DRCL\n" + STYLES["V7"].text())
    [(folder, _)] = import_log(path, tmp_path / "run")
    told = "experiment 1 of the same file was left out: it names OneshotOursV7 with DRCL, but no round"
    assert any(event.text.startswith(told) for event in happened(folder) if isinstance(event, Remark))


@pytest.mark.parametrize(
    "config", ["{'server': {'lr': 0.05},\n 'seed': 3}", '{"server": {"lr": 0.05}, "seed": 3, "resume": true}']
)
def test_a_configuration_may_stand_in_several_lines_or_be_json(tmp_path, config):
    path = tmp_path / "x.log"
    path.write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
    [(folder, result)] = import_log(path, tmp_path / "run")
    assert read_file(folder / "experiment.yaml")["training"]["lr"] == 0.05
    assert result.seeds.training == 3
