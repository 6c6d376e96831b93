"""Many runs, one table: shared training, isolated failures, searches, and what a user sees."""

import csv
import json
import os
import re
import socket
import sys
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import ClassVar

import pytest

from mooring.config import load_plan
from mooring.engines.flower import QUIET_ENVIRONMENT
from mooring.fusion import Fusion
from mooring.processes._starting import without_main
from mooring.sweeps import run_plan
from mooring.sweeps._search import SAMPLERS, better_half, stages

PLAN = ["method=v7", "seed=1..2", "fusion=feature-ensemble,class-expert", "data.limit=100", "training.rounds=1"]
PLAN += ["training.local_epochs=1", "partition.clients=3"]
SMALL = ["data.limit=300", "training.rounds=1", "training.local_epochs=1", "partition.clients=3"]


def read_rows(table):
    """As a spreadsheet reads them."""
    with table.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_sweep_runs_once_and_shares_training(cli, tmp_path):
    words = [
        "sweep",
        "method=v7",
        "fusion=feature-ensemble,class-expert",
        "seed=1..2",
        *SMALL,
        f"out={tmp_path / 's'}",
        "--workers=1",
    ]
    code, out, err = cli(*words, "--baseline", "fusion=feature-ensemble")
    assert code == 0, err
    assert "class-expert" in out
    assert "95 % interval" in out
    assert len(list((tmp_path / "s/runs").iterdir())) == 2
    assert [row["status"] for row in read_rows(tmp_path / "s/results.csv")] == ["finished"] * 4
    before = (tmp_path / "s/results.csv").read_bytes()
    code, out, err = cli(*words, "--baseline", "fusion=feature-ensemble")
    assert code == 0
    assert "4 of 4 runs finished earlier" in err
    assert (tmp_path / "s/results.csv").read_bytes() == before
    code, _, err = cli(*(word.replace("expert", "expert,iffi") for word in words), "--baseline", "fusion=class-expert")
    assert code == 0, err
    assert "4 of 6 runs finished earlier" in err
    assert len(list((tmp_path / "s/runs").iterdir())) == 2
    assert [row["pairs"] for row in read_rows(tmp_path / "s/summary.csv")] == ["2", "0", "2"]  # the baseline has none
    assert set(before.splitlines()) < set((tmp_path / "s/results.csv").read_bytes().splitlines())
    code, _, err = cli("sweep", "seed=1..2", *SMALL, f"out={tmp_path / 's'}")
    assert code == 2
    assert "holds another sweep" in err


def swept_on_ray(folder):
    """In a process of its own, because Ray leaves threads and handlers of signals behind."""
    import ray

    os.environ |= {
        **QUIET_ENVIRONMENT,
        "PYTHONPATH": os.pathsep.join(sys.path),
    }  # as if every machine had mooring installed
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    os.chdir(folder)
    run_plan(load_plan(None, PLAN, "seed=1"), Path("there"), engine="ray")


@pytest.mark.slow
def test_a_sweep_on_ray_leaves_what_one_here_leaves(tmp_path, forking):
    pytest.importorskip("ray", reason="Ray: the extra flower is not installed")
    process = get_context("forkserver").Process(target=swept_on_ray, args=(tmp_path,))
    with without_main():
        process.start()
    run_plan(load_plan(None, PLAN, "seed=1"), tmp_path / "here", 1)
    process.join()
    assert process.exitcode == 0
    for table in ("results.csv", "summary.csv"):
        assert (tmp_path / "there" / table).read_bytes() == (tmp_path / "here" / table).read_bytes()
    uploads = sorted(path.relative_to(tmp_path / "here") for path in (tmp_path / "here").rglob("*.safetensors"))
    assert len(uploads) == 6
    assert all((tmp_path / "there" / path).read_bytes() == (tmp_path / "here" / path).read_bytes() for path in uploads)


def test_ray_without_its_extra_is_one_line(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = cli("sweep", "seed=1..2", *SMALL, "--engine", "ray")
    assert code == 2
    assert "error: ray: is not installed; pip install 'mooring[flower]'" in err


@pytest.fixture
def silent_port():
    """A port of this machine at which nobody listens: taken, so that nobody else begins to."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_does_not_answer_is_one_line_and_leaves_nothing(scheme, silent_port, cli, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray: the extra flower is not installed")
    address = f"{scheme}127.0.0.1:{silent_port}"
    monkeypatch.setenv("RAY_ADDRESS", address)
    code, out, err = cli("sweep", "seed=1..2", *SMALL, "--engine", "ray", f"out={tmp_path / 's'}")
    assert code == 2
    assert not out
    [line] = err.splitlines()
    assert line.startswith(f"error: --engine ray: RAY_ADDRESS={address}: no answer (")
    assert line.endswith("; correct RAY_ADDRESS, or start the cluster with `ray start --head`")
    assert not (tmp_path / "s").exists()


def test_what_is_no_address_of_a_cluster_is_one_line(cli, tmp_path, monkeypatch):
    pytest.importorskip("ray", reason="Ray: the extra flower is not installed")
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:six")
    code, _, err = cli("sweep", "seed=1..2", *SMALL, "--engine", "ray", f"out={tmp_path / 's'}")
    assert code == 2
    assert "error: --engine ray: RAY_ADDRESS=127.0.0.1:six: is not host:port; correct RAY_ADDRESS" in err
    assert not (tmp_path / "s").exists()


def test_a_failure_stays_alone_and_is_told(cli, tmp_path):
    words = ["method=v7", "training.lr=0.05,1e6", "training.clip=null", "weight.kind=fixed", *SMALL]
    code, out, _ = cli("sweep", *words, f"out={tmp_path / 's'}", "--json")
    assert code == 3
    told = json.loads(out)
    good, bad = told["results"]
    assert good["status"] == "finished"
    assert bad["status"] != "finished"
    assert bad["accuracy"] is None


@dataclass(frozen=True)
class Broken(Fusion):
    """A user's rule with a bug in it."""

    kind: ClassVar[str] = "broken"
    needs: ClassVar = frozenset()

    def __call__(self, payloads, server):
        raise RuntimeError("no rule\nof mine")


def test_a_fusion_with_a_bug_fails_alone(cli, tmp_path):
    code, out, err = cli(
        "sweep",
        "method=v7",
        f"fusion=feature-ensemble,{__name__}:Broken,class-expert",
        *SMALL,
        "out=s",
        "--json",
        "--workers",
        1,
    )
    assert code == 3, err
    good, bad, other = [row["status"] for row in json.loads(out)["results"]]
    assert (good, other) == ("finished", "finished")
    kept = "s/runs/feature-ensemble/error.txt"
    assert re.fullmatch(rf"{__file__}:\d+: RuntimeError: no rule of mine; the whole traceback is in '{kept}'", bad)
    assert "in __call__" in (tmp_path / kept).read_text()


@dataclass(frozen=True)
class Fragile:
    """A user's loss that is not a number for whoever has seen a nought, as long as the folder holds `ill`."""

    kind: ClassVar[str] = "fragile"

    def __call__(self, step):
        ill = Path("ill").exists() and bool((step.labels == 0).any())
        return step.prototypes.sum() * (float("nan") if ill else 0.0)


def tables(folder):
    return [(folder / name).read_bytes() for name in ("results.csv", "summary.csv")]


@pytest.mark.slow
def test_nothing_is_fused_from_some_of_the_clients(cli, tmp_path):
    terms = f"method.client.terms=['cross-entropy', '{__name__}:Fragile']"
    words = ["sweep", "method=v7", terms, "fusion=count-weighted,output-ensemble", *SMALL]
    assert cli(*words, "out=well")[0] == 0
    (tmp_path / "ill").touch()
    assert cli(*words, "out=s")[0] == 3
    rows = read_rows(tmp_path / "s/results.csv")
    assert [row["status"] for row in rows] == ["some clients failed"] * 2
    assert rows[1]["accuracy"] == ""
    [trained] = (tmp_path / "s/runs").iterdir()
    assert cli("fuse", trained, "--fusion", "output-ensemble", "--trust-code")[0] == 0
    [fused] = (trained / "fusions").iterdir()
    (tmp_path / "s/fused").mkdir()
    fused.rename(tmp_path / "s/fused/output-ensemble.json")  # a row of some of the clients, as it was once kept
    (tmp_path / "ill").unlink()
    assert cli(*words, "out=s")[0] == 0
    assert tables(tmp_path / "s") == tables(tmp_path / "well")


@pytest.mark.parametrize("kind", ["random", "tpe"])
def test_a_search_goes_by_validation_accuracy(kind, cli, tmp_path, monkeypatch):
    if kind == "tpe":
        pytest.importorskip("optuna", reason="searches by Optuna: the extra search is not installed")
    (tmp_path / "search.yaml").write_text(
        f"settings: [method=v7, data.validation=0.2, {', '.join(SMALL)}]\n"
        f"search: {{kind: {kind}, trials: 2, space: {{training.lr: {{low: 0.01, high: 0.1, log: true}}}}}}\n"
    )
    heard = []
    sampler = SAMPLERS[kind]

    def listening(search):
        """The sampler itself, and a note of what it is told."""
        chosen = sampler(search)
        learn = chosen.learn
        chosen.learn = lambda scores: (heard.extend(scores), learn(scores))
        return chosen

    monkeypatch.setitem(SAMPLERS, kind, listening)
    code, out, err = cli("sweep", "search.yaml", f"out={tmp_path / 's'}", "--json")
    assert code == 0, err
    rows = json.loads(out)["results"]
    assert len({row["training.lr"] for row in rows}) == 2
    assert heard == [row["validation_accuracy"] for row in rows]
    assert all(row["validation_accuracy"] != row["accuracy"] for row in rows)  # or this would decide nothing


def test_a_search_whose_trials_all_tie_says_so(cli, tmp_path):
    """`afl` trains nothing, so no learning rate is better than another."""
    (tmp_path / "search.yaml").write_text(
        "experiment: {method: afl, data: {limit: 80, validation: 0.2}, partition: {clients: 2}}\n"
        "search: {trials: 2, space: {training.lr: {low: 0.01, high: 0.1}}}\n"
    )
    code, out, err = cli("sweep", str(tmp_path / "search.yaml"), f"out={tmp_path / 's'}", "--quiet", "--workers=1")
    assert code == 0, err
    assert "all 2 trials have the same validation accuracy" in " ".join((out + err).split())


HALVING = """
experiment: {method: afl, data: {limit: 80, validation: 0.2}, partition: {clients: 2}}
factors: {seed: [1, 2]}
search: {trials: 4, pruner: halving, space: {fusion.ridge: {low: 1.0e-3, high: 1.0e+9, log: true}}}
"""


def test_a_search_gives_the_second_seed_to_the_better_half(cli, tmp_path):
    """And the same command runs nothing again."""
    (tmp_path / "search.yaml").write_text(HALVING)
    words = ("sweep", str(tmp_path / "search.yaml"), f"out={tmp_path / 's'}", "--quiet", "--workers=1")
    code, out, err = cli(*words)
    assert code == 0, err
    assert "2 of 4 trials stopped before the last seed" in " ".join(out.split())
    made = sorted((tmp_path / "s").glob("runs/*/result.json")) + sorted((tmp_path / "s").glob("fused/*.json"))
    assert len(made) == 4 + 2
    times = {path: path.stat().st_mtime_ns for path in made}
    assert cli(*words)[1] == out
    assert {path: path.stat().st_mtime_ns for path in made} == times
    assert cli("report", tmp_path / "s", "--format", "markdown")[0] == 0


def test_halving_keeps_the_higher_scores_and_the_earlier_of_equal_ones():
    assert better_half([3, 4, 5, 6], [0.1, None, 0.5, 0.1]) == [3, 5]
    assert better_half([0], [None]) == [0]
    assert list(stages("halving", 3)) == [1, 2, 3]
    assert list(stages("none", 3)) == [3]


def test_a_pruner_needs_several_seeds(cli, tmp_path):
    (tmp_path / "search.yaml").write_text(HALVING.replace("[1, 2]", "[1]"))
    code, _, err = cli("sweep", str(tmp_path / "search.yaml"))
    assert code == 2
    assert "search.pruner: stops trials between seeds; write seed: [1, 2, 3] under factors" in err
