"""Reading a folder runs no code of others, and no file that lies around stands in for a library."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from apart import installed
from old_logs import log_of, v10_rounds
from report_folders import SHORT, fusion_of, relabelled, write_members

from mooring import fuse, load, report
from mooring.cli.arguments import resuming
from mooring.config import (
    ALL_CODE,
    HOUSE_CODE,
    Trust,
    as_yaml,
    code_named_in,
    load_experiment_of_run,
    load_recorded,
    trusted_code_of,
)
from mooring.config._trust import named_module
from mooring.doctor import read_case
from mooring.errors import TrustError
from mooring.fusion import ClassExpert
from mooring.record import write_record
from mooring.sweeps import load_plan, members

REJECTED = "code that is not part of mooring; add --trust-code if you trust this folder"
EVIL = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mooring.fusion import FeatureEnsemble
from mooring.weighting import LambdaBounds, Equilibrium
from mooring.weighting._fixed import ConstantBalancer

Path("executed").touch()

@dataclass(frozen=True)
class Sine:
    kind: ClassVar[str] = "sine"
    value: float = 2.0

    def start(self, facts, rng):
        return ConstantBalancer(self.value)

    def stationary(self, local, align, progress, facts):
        return Equilibrium(self.value, self.value)

    def outlook(self, facts, lr, momentum, largest_local):
        return LambdaBounds(largest=self.value)

@dataclass(frozen=True)
class Rule(FeatureEnsemble):
    kind: ClassVar[str] = "rule"
"""
EVERY = (
    ["methods"],
    ["fusions"],
    ["show", "v7"],
    ["partition", "--json"],
    ["watch", "run", "--once"],
    ["report", "run", "-f", "csv"],
    ["track", "run", "--to", "tensorboard"],
    ["import", "old.log", "out=imported"],
    ["doctor", "imported"],
    ["resume", "run", "--json"],
    ["clean", "run"],
)
DECOYS = ["yaml", "numpy", "torch", "typer", "rich", "pickle", "multiprocessing", "signal", "mooring", "filelock"]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The name of a module in the current folder that leaves a trace when it is imported."""
    name = f"evil_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(EVIL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield name
    sys.modules.pop(name, None)


def forget(module):
    """As a new process would begin."""
    sys.modules.pop(module, None)
    Path("executed").unlink(missing_ok=True)


@pytest.fixture
def folder(v12_run, tmp_path, module):
    """A finished run that names code of others."""
    there = tmp_path / "run"
    relabelled(v12_run, there, ["method=v7", f"weight={module}:Sine"], 0.5)
    forget(module)
    return there


VERBS = {
    "report": ["report", "run", "-f", "csv"],
    "doctor": ["doctor", "run"],
    "watch": ["watch", "run", "--once"],
    "fuse": ["fuse", "run", "-f", "class-expert"],
    "resume": ["resume", "run"],
}


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_a_verb_that_reads_a_folder_does_not_run_its_code(folder, module, cli, words):
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err == f"error: the folder names {module}:Sine, {REJECTED}\n"
    assert not Path("executed").exists()


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS)
def test_it_does_when_told_to_trust_it(folder, module, cli, words):
    _, _, err = cli(*words, "--trust-code")
    assert Path("executed").exists()
    assert REJECTED not in err


@pytest.mark.parametrize("words", [["track", "run", "--to", "tensorboard"], ["clean", "run"]], ids=["track", "clean"])
def test_verbs_that_need_no_code_of_a_folder_run_none(folder, cli, words):
    code, _, err = cli(*words)
    assert code == 0, err
    assert not Path("executed").exists()


def test_a_module_that_stands_on_the_command_line_is_trusted(folder, module, cli):
    _, _, err = cli("fuse", "run", "-f", f"{module}:Rule")
    assert Path("executed").exists()
    assert REJECTED not in err


def test_python_readers_of_folders_trust_nobody_unless_told(folder, module):
    for read in (
        lambda: report(folder, "csv"),
        lambda: list(fuse(folder, [ClassExpert()])),
        lambda: read_case(folder),
        lambda: load_experiment_of_run(folder),
        lambda: load_recorded(folder / "experiment.yaml"),
    ):
        with pytest.raises(TrustError, match=module):
            read()
    assert not Path("executed").exists()
    assert load_recorded(folder / "experiment.yaml", ALL_CODE).label.startswith("v7 + weight")


def test_files_that_users_name_are_their_own(folder, module, cli):
    """`mooring run FILE` runs what the file says; reading it as a folder does not."""
    (experiment,) = load(folder / "experiment.yaml")
    assert Path("executed").exists()
    assert trusted_code_of(experiment.tree()) == Trust(frozenset({module}))


@pytest.mark.parametrize("where", ["sweep.json", "fused"])
def test_no_record_of_a_sweep_brings_code_in(v12_run, tmp_path, module, cli, where):
    """Not a name in its table, and not the settings of a fusion."""
    sweep = tmp_path / "sweep"
    row = fusion_of(relabelled(v12_run, sweep / "runs" / "a", [], 0.5), "class-expert", 0.5)
    named = {"sweep.json": (f"{module}:MINE", row.settings), "fused": ("v7", {"kind": f"{module}:Rule"})}
    method, settings = named[where]
    write_record(sweep / "fused" / "b.json", replace(row, settings=settings))
    (sweep / "sweep.yaml").write_text("factors: {method: [v7]}")
    write_members(sweep, {"a": {"method": "v7"}, "b": {"method": method}}, trained_by={"b": "a"})
    code, _, err = cli("report", sweep, "-f", "csv")
    assert code == 2
    assert REJECTED in err
    assert not Path("executed").exists()


def sweep_of(folder, module):
    folder.mkdir()
    (folder / "sweep.yaml").write_text(f"settings: [method=v7, weight={module}:Sine]\nfactors: {{seed: [1, 2]}}")
    return folder


def test_a_run_that_waits_in_a_folder_is_not_imported_and_not_replaced(tmp_path, module, cli):
    waiting = tmp_path / "run"
    (waiting / "state").mkdir(parents=True)
    (experiment,) = load(None, ["method=v7", f"weight={module}:Sine", *SHORT])
    (waiting / "experiment.yaml").write_text(as_yaml(experiment.tree()))
    forget(module)
    before = (waiting / "experiment.yaml").read_bytes()
    code, _, err = cli("run", *SHORT, "out=run")
    assert code == 2
    assert "holds an interrupted run of another experiment; choose another folder" in err
    assert not Path("executed").exists()
    assert (waiting / "experiment.yaml").read_bytes() == before


def test_the_way_on_says_when_code_must_be_trusted(module):
    (own,), (ours,) = load(None, ["method=v7", f"weight={module}:Sine"]), load(None, [])
    assert resuming(Path("a b"), own) == "mooring resume --trust-code 'a b'"
    assert resuming(Path("a b"), ours) == "mooring resume 'a b'"


def test_trust_is_by_module():
    assert code_named_in(
        ["weight=lab.parts:Sine", "data.root=/a", "seed=3", "'method.client.terms=[x, my:T]'"]
    ) == Trust(frozenset({"lab.parts", "my"}))
    Trust(frozenset({"lab"})).require("lab:X")
    HOUSE_CODE.require("mooring.engines:Local")
    for name in ("lab.parts:X", "os:X", "mooringx:X"):
        with pytest.raises(TrustError):
            Trust(frozenset({"lab"})).require(name)


def test_a_plan_passes_its_trust_on_to_every_run(module, tmp_path):
    folder = sweep_of(tmp_path / "s", module)
    with pytest.raises(TrustError):
        load_plan(folder / "sweep.yaml", trust=HOUSE_CODE)
    assert not Path("executed").exists()
    assert len(members(folder, ALL_CODE)) == 2


def test_the_current_folder_is_searched_last_and_only_for_code_that_is_found_nowhere_else(tmp_path, module):
    (tmp_path / "yaml.py").write_text("raise SystemExit('shadowed')")
    before = list(sys.path)
    assert named_module("yaml").__name__ == "yaml"
    with pytest.raises(ModuleNotFoundError):
        named_module("no_such_module")
    assert sys.path == before
    assert named_module(module).Sine
    assert sys.path == [*before, str(tmp_path)]


def decoys(here):
    """Files that would be libraries if Python looked here first."""
    for name in DECOYS:
        (here / f"{name}.py").write_text(f"open('executed-{name}', 'w').close()\nraise SystemExit('shadowed')\n")


def test_no_verb_and_no_worker_runs_a_file_that_is_called_like_a_library(v12_run, tmp_path):
    """And code that was named is run by workers, from the current folder: it alone leaves its trace."""
    here = tmp_path / "here"
    shutil.copytree(v12_run, here / "run")
    (here / "old.log").write_text(log_of("OneshotOursV10", v10_rounds()))
    (here / "lab.py").write_text(EVIL + "\nimport helper\n")
    (here / "helper.py").write_text("")
    decoys(here)
    words = "engine.workers=2 partition.kind=iid partition.clients=2 training.rounds=1 training.local_epochs=1"
    own = f"run method=v7 weight=lab:Sine {words} data.limit=60 out=own -q"
    done = installed(tmp_path)(here, *(" ".join(words) for words in EVERY), own)
    assert [line for line in done.stderr.splitlines() if not line.endswith(" ...")] == []  # but for what takes long
    assert [path.name for path in here.glob("executed*")] == ["executed"]
