"""What a log prints is in the record under its own name, and every reader can show it."""

from pathlib import Path

import openpyxl
import pytest
from old_logs import STYLES

from mooring import report
from mooring.config import load
from mooring.config._tree import read_file
from mooring.events import Remark
from mooring.methods import METHODS
from mooring.notes._imports import import_log
from mooring.record import NotFinite, RunFolder


def happened(folder):
    return [timed.event for timed in RunFolder(folder).events]


def imported(tmp_path, name):
    path = tmp_path / "old.log"
    path.write_text(STYLES[name].text())
    [found] = import_log(path, tmp_path / name)
    return found


def test_truly_effective_is_kept_under_its_own_name_and_never_as_felt(tmp_path):
    folder, result = imported(tmp_path, "V12")
    row = RunFolder(folder).result.rounds[1].clients[0]
    assert (row.lambda_raw, row.lambda_felt, row.lambda_printed, row.schedule_factor) == (300.0, 300.0, 150.0, 0.5)
    assert result.origin.inferred == {"lambda_felt": "the raw lambda: the published code gave it to the weights"}


def test_lambdas_and_entropies_that_are_printed_are_imported(tmp_path):
    folder, result = imported(tmp_path, "V9")
    clients = result.rounds[2].clients
    assert [(row.lambda_raw, row.lambda_felt) for row in clients] == [(10.3302, None)] * 2
    assert RunFolder(folder).result.partition.entropy == (1.7077, 1.7077)
    assert result.partition.normalised_entropy == (0.5141, 0.5141)
    _, result = imported(tmp_path, "V7")
    assert {row.lambda_raw for row in result.rounds[0].clients} == {10.0}
    assert [client.lambda_start for client in result.origin.clients] == [10.0, 10.0]


def test_an_idle_lambda_is_not_imported_as_one(tmp_path):
    folder, result = imported(tmp_path, "V4, latest")
    assert {row.lambda_raw for row in result.last.clients} == {None}
    assert Remark("V4 prints lambda_align_initial and does not use it") in happened(folder)


def test_the_printed_configuration_is_kept(tmp_path):
    folder, _ = imported(tmp_path, "V12")
    config = RunFolder(folder).result.origin.config
    assert config["lambda_align_initial"] == 5.0
    assert config["v9_config"] == {"use_adaptive_lambda": True, "lambda_min": 0.1, "lambda_max": 20.0}
    told = read_file(folder / "experiment.yaml")
    assert told["sigma"] == {"lr": 0.005, "start": {"kind": "entropy", "minimum": 0.1, "maximum": 20.0}}


def test_a_printed_gamma_is_a_setting(tmp_path):
    folder, _ = imported(tmp_path, "V13 of December")
    assert read_file(folder / "experiment.yaml")["weight"] == {"guard": {"gamma": 1e-5}}


def test_numbers_that_are_not_finite_are_told(tmp_path):
    folder, result = imported(tmp_path, "V13, diverged")
    origin = RunFolder(folder).result.origin
    assert NotFinite(0, 0, "lambda_raw", "nan") in origin.not_finite
    assert {row.lambda_raw for row in result.last.clients} == {None}
    assert any("numbers are not finite, first lambda_raw = nan" in e.text for e in happened(folder)[-3:])


def test_every_accuracy_of_a_round_is_kept(tmp_path):
    folder, result = imported(tmp_path, "FedProto")
    accuracies = RunFolder(folder).result.origin.accuracies
    assert [by_round[3] for by_round in accuracies.values()] == [0.430, 0.431, 0.432]
    assert (result.accuracy, result.origin.server) == (0.430, "of OneShotFedProto")


READERS = ("doctor", "report", "watch --once", "verify")


@pytest.mark.parametrize("name", ["V14 that fits no month", "V5 of note 1", "AURORA + FedAvg", "V9", "V13, diverged"])
def test_a_method_and_data_that_nobody_here_knows_can_be_read_everywhere(tmp_path, cli, name):
    path = tmp_path / "old.log"
    path.write_text(
        STYLES[name].text().replace("CIFAR10", "Tiny-ImageNet").replace("'num_classes': 10", "'num_classes': 200")
    )
    assert cli("import", path, "out=run")[0] == 0
    result = RunFolder(Path("run")).result
    assert (result.dataset, len(result.classes)) == ("tiny_imagenet", 200)
    for command in READERS:
        code, out, err = cli(*command.split(), "run")
        assert code in (0, 1), (command, out, err)
        assert out
    assert cli("track", "run", "--to", "tensorboard", "--out", "board")[0] == 0


@pytest.mark.parametrize("format_", ["csv", "markdown", "latex", "excel"])
def test_what_was_inferred_is_marked_in_every_format(tmp_path, format_):
    folder, _ = imported(tmp_path, "V13 of November")
    place = report(folder, format_)
    text = everything(place).replace(" \\\\ ", " ").replace("\\allowbreak{}", "")  # where LaTeX may break lines
    assert "v13-gamma (inferred), seed 7" in text.replace("\\_", "_")
    assert "effective lambda inferred" in text
    assert "truly effective" in text
    assert "v13-gamma-local, which adds" in text


def everything(place):
    if place.suffix == ".xlsx":
        data = openpyxl.load_workbook(place)
        return "\n".join(str(cell.value) for sheet in data for row in sheet for cell in row if cell.value is not None)
    files = sorted(place.glob("*")) if place.is_dir() else [place]
    return "\n".join(file.read_text("utf-8") for file in files)


@pytest.mark.parametrize("name", [name for name, style in STYLES.items() if style.method in METHODS])
def test_a_method_of_ours_of_which_all_is_told_can_be_run_again(tmp_path, name):
    folder, result = imported(tmp_path, name)
    (experiment,) = load(folder / "experiment.yaml")
    assert experiment.name == result.method
