"""The explosion of note 5 as its log tells it: numbers of the SVHN run, in the lines of the published code."""

import json
from pathlib import Path

import pytest

from mooring.doctor import case_of_log, examine
from mooring.notes._imports import read_imports

FACTS = json.loads((Path(__file__).parent / "svhn_note5.json").read_text())


def lines():
    config = {"server": {"lr": 0.05, "momentum": 0.9, "model_name": "resnet18"}, "dataset": {"num_classes": 10}}
    yield f"config: {config}"
    yield "OneshotOursV12: Uncertainty Weighting"
    for r, accuracy in enumerate(FACTS["fused_accuracy"]):
        yield f"Round {r} starts--------|"
        for client, raws in FACTS["raw_lambda"].items():
            s = 1 - (r + 1) / 50
            yield f"Client {client} Starts Local Trainning--------|"
            alone = FACTS["client_accuracy"][client][r]
            yield f"Epoch {r} loss: 225.19; train accuracy: 0.5; test accuracy: {alone}"
            state = f"Raw λ: {raws[r]:.4f} | s(p): {s:.3f} | Truly Effective λ (for W): {raws[r] * s:.4f}"
            yield f"Client {client} Post-Training State -> {state}"
        yield f"The test accuracy of OursV12+SimpleFeatureServer: {accuracy}"


@pytest.fixture(scope="module", params=["\n", "\r\n"])
def diagnosis(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "svhn.log"
    stamped = [f"2025-11-06 19:31:58 [INFO]  {line}" for line in lines()]
    path.write_text(request.param.join(stamped), newline="")
    (imported,) = read_imports(path)
    case = case_of_log(imported.record, imported.settings, path.name)
    fused = case.record.fused
    assert case.method == "v12-as-run"
    assert max(fused, key=fused.get) == 14
    assert fused[14] == pytest.approx(0.495, abs=1e-3)
    return examine(case)


def test_clients_run_away_in_the_order_3_4_1_2_and_client_0_does_not(diagnosis):
    away = diagnosis.finding("running-away")
    assert away.ill
    assert away.clients == (3, 4, 1, 2)
    assert away.words.startswith("Lambda ran away at 4 of 5 clients from round ")
    assert away.words.endswith("; fused accuracy fell from 50 % to 16 %.")


def test_the_fused_accuracy_collapses_after_its_peak_while_the_clients_hold(diagnosis):
    fall = diagnosis.finding("collapsed").evidence[0]
    assert fall.values["peak_round"] == 14
    assert fall.round == 16, "0.269 is the first below 0.7 * 0.495"
    assert fall.values["last"] < 0.2
    assert fall.values["clients_at_end"] >= fall.values["clients_at_peak"]


def test_nothing_is_said_of_norms_that_a_log_does_not_hold(diagnosis):
    assert diagnosis.finding("norm-domination") is None


def test_nothing_is_proposed_that_a_log_cannot_take(diagnosis):
    assert not any(finding.remedy for finding in diagnosis.findings)
