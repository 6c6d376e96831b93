"""The doctor on real runs of the digits."""

import json
from pathlib import Path

import pytest


def examined(cli, *arguments):
    code, out, err = cli("doctor", *arguments, "--json")
    assert "Traceback" not in err
    return code, json.loads(out)


def run_of(cli, method, *overrides):
    assert cli("run", f"method={method}", "out=run", "engine.workers=1", *overrides, "--quiet")[0] == 0
    return json.loads(Path("run/result.json").read_text())


@pytest.mark.slow
def test_the_explosion_of_v12_is_found_dated_and_explained(cli):
    result = run_of(cli, "v12")
    code, told = examined(cli, "run")
    assert code == 1
    away = [f for f in told["findings"] if f["kind"] == "running-away"]
    assert away
    for finding in away:
        raws = [row["clients"][finding["client"]]["lambda_raw"] for row in result["rounds"]]
        exploded = next(r for r, raw in enumerate(raws) if raw > 100)
        assert abs(finding["round"] - exploded) <= 1
        assert finding["evidence"]["align_loss"] < 0.1
        assert finding["evidence"]["largest_raw"] < finding["evidence"]["bound"]
    assert "norm-domination" in {f["kind"] for f in told["findings"]}
    largest = max(client["lambda_raw"] for client in result["rounds"][5]["clients"])
    assert largest > 1e4
    peak = max(row["metrics"]["accuracy"] for row in result["rounds"])
    assert result["accuracy"] < 2 / 3 * peak
    code, out, _ = cli("doctor", "run")
    assert code == 1
    assert "try  method=closed-form" in out


@pytest.mark.slow
@pytest.mark.parametrize("method", ["v9", "closed-form"])
def test_nothing_is_ill_in_v9_and_in_the_closed_form(cli, method):
    result = run_of(cli, method)
    code, told = examined(cli, "run")
    assert code == 0
    assert told["ill"] is False
    if method == "closed-form":
        felt = [client["lambda_felt"] for row in result["rounds"] for client in row["clients"]]
        assert 0 <= min(felt) <= max(felt) <= 50


@pytest.mark.slow
def test_cancellation_is_found_in_v11(cli):
    run_of(cli, "v11-linear", "training.rounds=4", "training.local_epochs=3")
    _, told = examined(cli, "run")
    assert "cancelled" in {f["kind"] for f in told["findings"]}


@pytest.mark.slow
def test_a_learned_lambda_tracks_its_equilibrium_where_relaxation_is_short(cli):
    run_of(cli, "v10", "training.rounds=3", "training.local_epochs=3")
    _, told = examined(cli, "run")
    tracked = {f["client"]: f["evidence"] for f in told["findings"] if f["kind"] == "tracking"}
    assert tracked
    for client, evidence in tracked.items():
        assert evidence["relaxation_steps"] < evidence["steps"]
        assert told["distance_to_equilibrium"][str(client)] == pytest.approx(evidence["distance"])
    assert min(told["distance_to_equilibrium"].values()) < 0.3


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
    assert "warning: the schedule cancels" in err


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


@pytest.mark.slow
def test_every_remedy_can_be_pasted(cli):
    """What the doctor proposes for a sick run is a valid override of that run, and takes the place of its own word."""
    run_of(cli, "v12", "training.rounds=4")
    _, told = examined(cli, "run")
    remedies = {f["remedy"] for f in told["findings"] if f["remedy"]}
    assert remedies
    for remedy in remedies:
        new = dict(word.partition("=")[::2] for word in remedy.split())
        words = [f"{key}={value}" for key, value in ({"method": "v12"} | new).items()]
        assert cli("partition", *words, "--json")[0] == 0, remedy
        assert cli("partition", "run/experiment.yaml", *remedy.split(), "--json")[0] == 0, remedy
