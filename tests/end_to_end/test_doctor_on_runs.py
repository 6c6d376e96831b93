"""The doctor on real runs of the digits."""

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from mooring.doctor import read_case
from mooring.doctor._examine import REMEDIES
from mooring.record import RunFolder, write_result


def examined(cli, *arguments):
    code, out, err = cli("doctor", *arguments, "--json")
    assert "Traceback" not in err
    return code, json.loads(out)


def run_of(cli, method, *overrides):
    code, _, err = cli("run", f"method={method}", "out=run", "engine.workers=1", *overrides, "--quiet")
    assert code in (0, 3), err  # 3: some clients failed
    return json.loads(Path("run/result.json").read_text())


def finding_of(told, kind):
    return next((finding for finding in told["findings"] if finding["kind"] == kind), None)


@pytest.mark.slow
def test_the_explosion_of_v12_is_found_dated_and_explained(cli):
    result = run_of(cli, "v12")
    code, told = examined(cli, "run")
    assert code == 1
    for shown in finding_of(told, "running-away")["evidence"]:
        raws = [row["clients"][shown["client"]]["lambda_raw"] for row in result["rounds"]]
        exploded = next(r for r, raw in enumerate(raws) if raw > 100)
        assert abs(shown["round"] - exploded) <= 1
        assert shown["values"]["align_loss"] < 0.1
        assert shown["values"]["largest_raw"] < shown["values"]["bound"]
    largest = max(client["lambda_raw"] for client in result["rounds"][5]["clients"])
    assert largest > 1e4
    peak = max(row["metrics"]["accuracy"] for row in result["rounds"])
    assert result["accuracy"] < 2 / 3 * peak
    assert finding_of(told, "collapsed")["severity"] == "ill"


@pytest.mark.slow
def test_nothing_is_ill_in_v9(cli):
    run_of(cli, "v9")
    code, told = examined(cli, "run")
    assert code == 0
    assert told["ill"] is False


@pytest.mark.slow
def test_a_guard_does_not_make_v12_healthy(cli):
    run_of(cli, "v12-gamma")
    code, told = examined(cli, "run")
    assert code == 1
    assert finding_of(told, "running-away")["severity"] == "ill"
    assert finding_of(told, "capped")["severity"] == "ill"


@pytest.mark.slow
def test_cancellation_is_found_in_v11(cli):
    run_of(cli, "v11-linear", "training.rounds=4", "training.local_epochs=3")
    _, told = examined(cli, "run")
    assert finding_of(told, "cancelled")


@pytest.mark.slow
def test_a_learned_lambda_tracks_its_equilibrium_where_relaxation_is_short(cli):
    run_of(cli, "v10", "training.rounds=3", "training.local_epochs=3")
    _, told = examined(cli, "run")
    tracked = {shown["client"]: shown["values"] for shown in finding_of(told, "tracking")["evidence"]}
    assert tracked
    for client, values in tracked.items():
        assert values["relaxation_steps"] < values["steps"]
        assert told["distance_to_equilibrium"][str(client)] == pytest.approx(values["distance"])
    assert min(told["distance_to_equilibrium"].values()) < 0.3


@pytest.fixture
def well(v12_run, tmp_path):
    """The small run, which is at chance, as if it had learned something."""
    shutil.copytree(v12_run, tmp_path / "well")
    result = RunFolder(v12_run).result
    rows = [replace(r, metrics=replace(r.metrics, accuracy=0.5, balanced_accuracy=0.5)) for r in result.rounds]
    write_result(tmp_path / "well", replace(result, accuracy=0.5, rounds=tuple(rows)))
    return tmp_path / "well"


def test_a_run_at_chance_is_ill(cli, v12_run, well):
    code, told = examined(cli, v12_run)
    assert code == 1
    assert finding_of(told, "at-chance")["words"].startswith("The fused predictor is at chance: 10 %")
    assert examined(cli, well)[0] == 0


def test_the_terminal_tells_severity_evidence_and_remedy_in_this_order(cli, well, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    _, told = examined(cli, well)
    out = cli("doctor", well)[1]
    for finding in told["findings"]:
        assert list(finding) == ["kind", "severity", "words", "evidence", "remedy", "support"]
    finding = finding_of(told, "never-seen")
    lines = out.splitlines()
    first = lines.index(f"note  {finding['words']} (never-seen)")
    assert lines[first + 1] == f"      {finding['evidence'][0]['text']}"
    assert ("Try:" in out) == any(finding["remedy"] for finding in told["findings"])
    assert max(len(line) for line in lines[1:] if "Try:" not in line) <= 80


def test_the_report_tells_severity_evidence_and_remedy_in_this_order(cli, well, tmp_path):
    assert cli("report", well, "--format", "markdown", "--out", tmp_path / "page.md")[0] == 0
    page = (tmp_path / "page.md").read_text("utf-8").replace("\\_", "_")
    assert "| severity | finding | in words | clients | from round | evidence | try | tried on |" in page


def test_a_plan_is_examined_before_it_runs(cli, tmp_path):
    code, told = examined(cli, "method=v12")
    assert code == 0
    assert {f["kind"] for f in told["findings"]} == {"cancelled", "can-run-away"}
    assert [line["steps"] for line in told["clients"]] == [300, 350, 850, 500, 400]
    assert told["clients"][0]["relaxation"] == pytest.approx(19, rel=0.03)
    assert told["upload_bytes"] == pytest.approx(80_000, rel=0.1)
    assert told["minutes"] > 0
    assert not (tmp_path / "runs").exists()
    _, told = examined(cli, "method=v10-remedied", "training.rounds=2")
    assert "lagging" in {f["kind"] for f in told["findings"]}
    _, told = examined(cli, "method=v12-gamma")
    assert "capped" in {f["kind"] for f in told["findings"]}


def test_a_run_warns_of_what_the_doctor_sees_coming(cli):
    _, _, err = cli("run", "method=v12", "training.rounds=1", "training.local_epochs=1", "engine.workers=1")
    assert "warning: annealing will have no effect" in err


@pytest.mark.parametrize("arguments", [("nowhere",), ("--log", "nowhere.log"), ("run", "--log", "x.log")])
def test_a_doctor_without_a_patient_says_so(cli, arguments, tmp_path):
    (tmp_path / "run").mkdir()
    code, _, err = cli("doctor", *arguments)
    assert code == 2
    assert err.startswith("error: ")


def test_an_empty_folder_is_no_run(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = cli("doctor", "empty")
    assert code == 2
    assert "name the folder of a finished run" in err


def accuracy_after(cli, command):
    """Of validation images, under a remedy as it was printed."""
    code, out, err = cli(*shlex.split(command)[1:], "--json")
    assert code == 0, err
    return json.loads(out)["validation_accuracy"]


ILL_RUNS = {  # settings -> kinds whose remedies are tried on such a run
    ("v12",): ("running-away", "unstable", "collapsed", "norm-domination"),
    ("v12-gamma",): ("capped",),
    ("v7",): ("never-seen",),
}


def test_no_remedy_is_left_untried():
    assert {kind for kinds in ILL_RUNS.values() for kind in kinds} == set(REMEDIES)


@pytest.mark.slow
@pytest.mark.parametrize("settings", ILL_RUNS, ids=" ".join)
def test_every_remedy_that_can_be_printed_was_seen_to_help(cli, settings):
    result = run_of(cli, *settings, "data.validation=0.1", "training.local_epochs=3")
    case, ill = read_case(Path("run")), {"collapsed"}
    remedies = {remedy for kind in ILL_RUNS[settings] for remedy in REMEDIES[kind]}
    for command in (remedy.command(case, ill) for remedy in remedies):
        assert accuracy_after(cli, command) > result["validation_accuracy"], command
