"""Whole runs on the embedded digits, as a user sees them."""

import json
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import torch
import yaml
from disturbance import workers_of

from mooring import fuse, load, load_fusions, run_experiment
from mooring.errors import StoreError

SHORT = ("training.rounds=2", "training.local_epochs=2", "data.limit=500")


def hashes(result):
    return [upload["sha256"] for upload in result["uploads"]]


def test_a_run_leaves_a_folder_that_says_everything(run_json, tmp_path):
    result = run_json(*SHORT, "method=v7", "out=here")
    folder = tmp_path / "here"
    assert {path.name for path in folder.iterdir()} == {
        ".lock",
        "experiment.yaml",
        "environment.json",
        "events.jsonl",
        "model.mooring",
        "uploads",
        "state",
        "result.json",
    }
    on_disk = json.loads((folder / "result.json").read_text())
    seal = on_disk.pop("sha256")
    assert len(seal) == 64
    assert {"folder": "here", **on_disk} == result
    assert {"method", "dataset", "fingerprint", "seeds", "accuracy", "seconds", "command", "date"} <= result.keys()
    assert {"per_class_accuracy", "confusion", "macro_f1"} <= result["rounds"][-1]["metrics"].keys()
    assert result["complete"] is True
    assert [r["round"] for r in result["rounds"]] == [0, 1]
    client = result["rounds"][-1]["clients"][0]
    assert {
        "client",
        "base_loss",
        "align_loss",
        "lambda_raw",
        "lambda_felt",
        "lambda_star",
        "accuracy",
    } <= client.keys()
    assert len(result["uploads"]) == 10
    assert result["accuracy"] == result["rounds"][-1]["metrics"]["accuracy"] > 0.15
    names = [json.loads(line)["event"] for line in (folder / "events.jsonl").read_text().splitlines()]
    assert (names.count("round"), names.count("fused"), names[:2]) == (10, 2, ["events", "partition"])
    tree = yaml.safe_load((folder / "experiment.yaml").read_text())
    assert tree["method"]["name"] == "v7"


def test_same_seeds_same_bytes_for_any_number_of_workers_and_another_seed_differs(run_json):
    few = (*SHORT, "method=v7")
    one = run_json(*few, "out=one", "engine.workers=1")
    three = run_json(*few, "out=three", "engine.workers=3")
    other = run_json(*few, "out=other", "engine.workers=1", "seed=2", "partition.seed=1")
    assert hashes(one) == hashes(three)  # two workers are compared with one in tests/faults
    assert one["accuracy"] == three["accuracy"]
    assert not set(hashes(one)) & set(hashes(other))
    assert one["partition"]["sha256"] == other["partition"]["sha256"]


def test_a_finished_run_is_returned_as_it_is_and_repeated_on_request(run_json, tmp_path):
    few = (*SHORT, "method=v7", "out=here")
    first = run_json(*few, "engine.workers=1")
    upload = next((tmp_path / "here/uploads").rglob("*.safetensors"))
    upload.unlink()
    assert run_json(*few) == first
    assert not upload.exists()
    repeated = run_json(*few, "engine.workers=1", "--again")
    assert upload.exists()
    assert hashes(repeated) == hashes(first)


@pytest.mark.parametrize("method", ["v4", "mooring", "local-only", "centralised"])
def test_every_kind_of_method_ends_with_a_number(method, run_json):
    result = run_json(*SHORT, f"method={method}", "out=here", "engine.workers=1")
    assert 0.1 < result["accuracy"] <= 1
    if method == "centralised":
        assert result["partition"]["clients"] == 1
        assert result["partition"]["sizes"] == [500]
    if method == "local-only":
        own = [client["accuracy"] for client in result["rounds"][-1]["clients"]]
        assert result["accuracy"] == pytest.approx(sum(own) / len(own))


def test_several_methods_share_the_partition_and_get_a_folder_each(cli, tmp_path):
    code, out, _ = cli("run", *SHORT, "method=v4,v7", "out=both", "engine.workers=1")
    assert code == 0
    results = [json.loads((tmp_path / "both" / name / "result.json").read_text()) for name in ("v4", "v7")]
    assert results[0]["partition"]["sha256"] == results[1]["partition"]["sha256"]
    assert "run folder: both/v4" in out
    assert "run folder: both/v7" in out


def test_the_label_histogram_of_every_client_is_its_plan(run_json, cli):
    _, out, _ = cli("partition", "data.limit=500", "--json")
    plan = json.loads(out)
    result = run_json(*SHORT, "method=v7", "out=here", "engine.workers=1", "fusion=count-weighted")
    assert result["partition"] == plan
    from safetensors.torch import load_file

    for client, counts in enumerate(plan["label_counts"]):
        path = Path("here/uploads/round-000") / f"client-{client:04d}.safetensors"
        assert load_file(path)["label_counts"].tolist() == counts


def test_empty_and_tiny_clients_run_and_are_reported(run_json, tmp_path):
    from mooring.data._digits import Digits

    labels = Digits().train().labels
    ones, twos = (labels == 1).nonzero()[:, 0].tolist(), (labels == 2).nonzero()[:, 0].tolist()
    clients = [[], ones[:1], ones[1:8], twos[:40]]  # none, one image, seven images, one class
    (tmp_path / "plan.json").write_text(json.dumps({"format": 1, "samples": 1437, "clients": clients}))
    result = run_json(*SHORT[:2], "method=v7", "partition.kind=file", "partition.path=plan.json", "out=here")
    assert result["partition"]["sizes"] == [0, 1, 7, 40]
    assert [row["client"] for row in result["rounds"][-1]["clients"]] == [1, 2, 3]
    assert result["absent"] == [{"client": 0, "reason": "starved"}]


@dataclass(frozen=True)
class Fragile:
    """A user's loss that is not a number for whoever has seen a nought."""

    kind: ClassVar[str] = "fragile"

    def __call__(self, step):
        return step.prototypes.sum() * (float("nan") if (step.labels == 0).any() else 0.0)


def test_a_client_that_fails_alone_leaves_the_others_results(cli, tmp_path):
    terms = f"method.client.terms=['cross-entropy', '{__name__}:Fragile']"
    code, out, err = cli("run", *SHORT, "method=v7", terms, "fusion=count-weighted", "out=here", "engine.workers=1")
    result = json.loads((tmp_path / "here/result.json").read_text())
    noughts = [client for client, counts in enumerate(result["partition"]["label_counts"]) if counts[0]]
    assert 0 < len(noughts) < 5
    assert code == 3
    assert result["complete"] is False
    assert result["absent"] == [{"client": client, "reason": "failed"} for client in noughts]
    assert len(result["rounds"][-1]["clients"]) == 5 - len(noughts)
    assert f"client {noughts[0]}: fragile is nan in round 1" in err
    assert "failed" in out


@pytest.mark.parametrize("workers", [1, 2])
def test_when_every_client_fails_the_error_names_client_round_step_and_term(cli, tmp_path, workers):
    wild = ("training.lr=1e6", "training.clip=null", "method=v4", f"engine.workers={workers}")
    code, out, err = cli("run", *SHORT, *wild, "out=here", "--quiet")
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: client \d: prototype-spread is nan in round 1, step \d+; lower training.lr.*\n", err)
    events = [json.loads(line) for line in (tmp_path / "here/events.jsonl").read_text().splitlines()]
    failed = [event for event in events if event["event"] == "failed"]
    assert len(failed) == 5
    assert err == f"error: {failed[0]['problem']}; {failed[0]['remedy']}\n"
    assert not (tmp_path / "here/result.json").exists()


def test_validation_images_are_taken_before_partitioning(cli):
    _, out, _ = cli("partition", "data.validation=0.2", "--json")
    assert json.loads(out)["samples"] == 1437 - 287
    _, out, _ = cli("partition", "data.limit=500", "--json")
    assert json.loads(out)["samples"] == 500


def test_workers_end_when_their_parent_is_killed(tmp_path):
    command = [
        sys.executable,
        "-c",
        "from mooring.cli import program; program()",
        "run",
        "method=v7",
        "engine.workers=2",
        "out=here",
        "-q",
    ]
    parent = subprocess.Popen(command, cwd=tmp_path)
    deadline = time.monotonic() + 600  # only for what hangs
    while len(list((tmp_path / "here").glob("uploads/*/*"))) < 1 and time.monotonic() < deadline:
        time.sleep(0.2)
    workers = workers_of(parent)
    parent.kill()
    parent.wait()
    assert len(workers) == 2
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_run_leaves_torch_with_as_many_threads_as_it_found(tmp_path):
    short = ["method=v4", "training.rounds=1", "training.local_epochs=1", "data.limit=300", "engine.workers=1"]
    (tmp_path / "taken").touch()
    [well], [rejected] = (load(overrides=[*short, f"out={tmp_path / name}"]) for name in ("run", "taken"))
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        result = run_experiment(well)
        assert torch.get_num_threads() == 3
        with pytest.raises(StoreError, match="cannot be written"):
            run_experiment(rejected)
        assert torch.get_num_threads() == 3
        [row] = fuse(tmp_path / "run", load_fusions("feature-ensemble"))
        assert torch.get_num_threads() == 3
        assert row.metrics == result.metrics
    finally:
        torch.set_num_threads(before)
