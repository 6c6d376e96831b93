"""Run folders that an earlier commit wrote are read, shown and written again without a changed byte."""

import json
import shutil
from dataclasses import replace
from difflib import unified_diff

import pytest
import torch
from golden_runs import FOLDERS, OTHER_FUSION, STORED

from mooring import RunFolder, fuse, load, load_fusions, load_model, run_experiment
from mooring.config import as_yaml
from mooring.data._digits import Digits
from mooring.federation import save_model
from mooring.record import event_line, write_record, write_result
from mooring.uploads import encode

TEST_IMAGES = 60
ADDED = {"+  optimizer: persistent"}  # lines of keys that are younger than the folders


@pytest.fixture(params=STORED)
def folder(request, tmp_path):
    """A copy: nothing writes into what is committed."""
    return shutil.copytree(FOLDERS / request.param, tmp_path / request.param)


def test_the_configuration_is_the_one_of_the_result(folder):
    file = folder / "experiment.yaml"
    [experiment] = load(file)
    changed = unified_diff(file.read_text("utf-8").splitlines(), as_yaml(experiment.tree()).splitlines(), n=0)
    assert {line for line in changed if not line.startswith(("---", "+++", "@@"))} == ADDED
    assert experiment.fingerprint() == RunFolder(folder).result.fingerprint
    assert experiment.label == RunFolder(folder).result.method


def test_the_result_is_written_again_byte_for_byte(folder):
    before = (folder / "result.json").read_bytes()
    result = RunFolder(folder).result
    assert result.complete
    assert result.accuracy == result.last.metrics.accuracy
    write_result(folder, result)
    assert (folder / "result.json").read_bytes() == before


def test_other_fusions_are_written_again_byte_for_byte(folder, tmp_path):
    [record] = RunFolder(folder).fusions
    assert record.fusion == OTHER_FUSION[folder.name]
    write_record(tmp_path / "again.json", record)
    [file] = (folder / "fusions").iterdir()
    assert (tmp_path / "again.json").read_bytes() == file.read_bytes()


def test_events_are_written_again_byte_for_byte(folder):
    first, *lines = (folder / "events.jsonl").read_text("utf-8").splitlines(keepends=True)
    assert json.loads(first)["format"] == 2
    assert [event_line(timed.event, timed.time) for timed in RunFolder(folder).events] == lines


def test_uploads_are_written_again_byte_for_byte(folder):
    run_folder = RunFolder(folder)
    records = run_folder.result.uploads
    assert len(records) == len(list((folder / "uploads").rglob("*.safetensors")))
    for record in records:
        assert encode(run_folder.upload(record)) == run_folder.upload_file(record).read_bytes()


def test_the_model_is_written_again_byte_for_byte_and_predicts(folder, tmp_path):
    model = load_model(folder / "model.mooring")
    save_model(tmp_path / "again.mooring", model.predictor, model.provenance, model.beside)
    assert (tmp_path / "again.mooring").read_bytes() == (folder / "model.mooring").read_bytes()
    test = replace(Digits(), test_limit=TEST_IMAGES).test()
    with torch.no_grad():
        right = (model.predictor(test.images).argmax(1) == test.labels).float().mean().item()
    assert right == pytest.approx(RunFolder(folder).result.accuracy, abs=2 / TEST_IMAGES)


def test_the_record_tells_every_client_and_round(folder):
    record = RunFolder(folder).record
    assert [client.client for client in record.clients] == [0, 1]
    assert [client.samples for client in record.clients] == list(record.result.partition.sizes)
    assert dict(record.fused) == {fused.round: fused.accuracy for fused in record.result.rounds}
    assert RunFolder(folder).environment.packages.keys() >= {"mooring", "torch"}


def test_a_finished_run_is_not_run_again(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*") if file.is_file()}
    assert run_experiment(*load(folder / "experiment.yaml")) == RunFolder(folder).result
    assert {file: file.stat().st_mtime_ns for file in before} == before


def test_uploads_are_fused_again_to_the_same_accuracy(folder):
    kept = RunFolder(folder)
    [record] = kept.fusions
    [again] = fuse(folder, load_fusions(record.fusion))
    assert again.metrics.accuracy == pytest.approx(record.metrics.accuracy, abs=2 / TEST_IMAGES)
    assert again.settings == record.settings
    assert again.upload_bytes == record.upload_bytes


VERBS = {
    "verify": (("verify", "RUN"), {0}),
    "doctor": (("doctor", "RUN", "--json"), {0, 1}),  # 1: something is wrong with what was learned
    "report": (("report", "RUN", "--format", "markdown"), {0}),
    "watch": (("watch", "RUN", "--once"), {0}),
    "card": (("model-card", "RUN"), {0}),
    "inspect": (("inspect", "RUN/model.mooring"), {0}),
    "resume": (("resume", "RUN", "--quiet"), {0}),
    "clean": (("clean", "RUN"), {0}),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_reads_it(verb, folder, cli):
    words, expected = VERBS[verb]
    code, out, err = cli(*(word.replace("RUN", str(folder)) for word in words))
    assert code in expected, err
    assert out
    assert "error" not in err


def test_both_are_compared_on_one_page(cli, tmp_path):
    pytest.importorskip("jinja2", reason="the report page: the extra report is not installed")
    for method in STORED:
        shutil.copytree(FOLDERS / method, tmp_path / method)
    assert cli("report", *list(STORED)[:1])[0] == 0
    code, _, err = cli("compare", *STORED)
    assert code == 0, err
    assert (tmp_path / "comparison.html").stat().st_size > 10_000
