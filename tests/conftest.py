"""Small real things that many tests share."""

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from report_folders import SHORT, relabelled, write_members

from mooring import load, run_experiment
from mooring.cli import main
from mooring.client import ClientJob, Training
from mooring.client._public_training import random_bank
from mooring.data._digits import Digits
from mooring.data._images import ImageSet
from mooring.federation._keys import HOME
from mooring.methods import METHODS
from mooring.models._backbones import DigitsNet
from mooring.models._network import Blueprint
from mooring.notes._study_record import DecidedClaim, PrintedTable, StudyRecord, write_study
from mooring.processes import start_early
from mooring.reports._table import Plot, PlottedLine, Quoted, Spread
from mooring.uploads import Encoder, LabelCounts, Prototypes

torch.set_num_threads(1)

IN_MEMORY = Path("/dev/shm")
ROOM = 2**31  # bytes that must be free there


@pytest.hookimpl(tryfirst=True)
def pytest_configure():
    """Temporary folders lie in memory where there is room: every write of a run waits for its disk, by design."""
    if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ROOM:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory):
    """No test makes a key or a log in the home of whoever runs it."""
    os.environ[HOME] = str(tmp_path_factory.mktemp("home"))
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(scope="session")
def digits() -> ImageSet:
    return Digits().train()


@pytest.fixture(scope="session")
def make_job(digits):
    """A client's client job on the digits."""

    def make(method="v7", seed=1, needs=frozenset({Encoder(), Prototypes(), LabelCounts()}), **training):
        method = METHODS[method] if isinstance(method, str) else method
        recipe = method.client
        blueprint = Blueprint(DigitsNet(), recipe.head, (1, 8, 8), digits.classes, Digits.mean, Digits.std)
        plan = Training(**{"rounds": 1, "local_epochs": 1} | training)
        job = ClientJob(blueprint, recipe, plan, seed, False, needs)
        return job if method.bank is None else replace(job, bank=random_bank(method.bank, digits, job))

    return make


@pytest.fixture(scope="session")
def shard_of(digits):
    """The first images of the given labels, `each` of them."""

    def shard(labels, each):
        chosen = [np.flatnonzero(digits.labels.numpy() == c)[:each] for c in labels]
        return digits.select(torch.from_numpy(np.concatenate(chosen) if chosen else np.empty(0, np.int64)))

    return shard


@pytest.fixture(scope="session")
def forking():
    """The process that forks the workers of all tests here, with everything imported that any of them needs."""
    start_early("mooring.sweeps._worker")


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path, forking):
    """Run the command line as a user does, in an empty folder; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(HOME, str(tmp_path / ".home"))
    for pause in ("FIRST", "BETWEEN"):  # what is shown does not depend on how busy the machine is
        monkeypatch.setattr(f"mooring.cli.live.{pause}", 1e6)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mooring", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture(scope="session")
def v12_run(tmp_path_factory):
    """A small real run of V12: two rounds of one epoch on a few digits; read it, do not write into it."""
    folder = tmp_path_factory.mktemp("runs") / "v12"
    [experiment] = load(overrides=["method=v12", f"out={folder}", *SHORT])
    run_experiment(experiment)
    return folder


@pytest.fixture(scope="session")
def sweep_folder(v12_run, tmp_path_factory):
    """Two methods, two seeds, one run that failed: copies of one run with accuracies that can be added up by hand."""
    folder = tmp_path_factory.mktemp("sweeps") / "pull"
    accuracies = {("v7", 1): 0.5, ("v7", 2): 0.7, ("v12", 1): 0.2, ("v12", 2): 0.6}
    for (method, seed), accuracy in accuracies.items():
        relabelled(v12_run, folder / "runs" / f"{method}-seed{seed}", [f"method={method}", f"seed={seed}"], accuracy)
    failed = folder / "runs" / "v12-seed3"
    failed.mkdir()
    shutil.copy(v12_run / "experiment.yaml", failed)
    factors = {"method": ["v7", "v12"], "seed": [1, 2, 3]}
    (folder / "sweep.yaml").write_text(
        json.dumps({"settings": list(SHORT), "factors": factors, "baseline": "method=v7"})
    )
    members = {f"{method}-seed{seed}": {"method": method, "seed": seed} for method, seed in [*accuracies, ("v12", 3)]}
    write_members(folder, members, "method=v7", {"v12-seed3": "failed"})
    return folder


BY_ROUND = PrintedTable(
    "Lambda by round, the note's and ours",
    ("round (note)", "lambda (note)", "round (measured)", "lambda (measured)", "accuracy (measured)"),
    (
        (0, Quoted("12.04"), 0, 9.5, Spread(0.25, 0.01, 2)),
        (14, Quoted("204,658.40"), 1, 37000.0, Spread(0.5, None, 1)),
        (29, "not given", None, None, None),
    ),
    (1,),
    (
        Plot(
            "Lambda",
            "lambda",
            (
                PlottedLine("round (note)", "lambda (note)", "note"),
                PlottedLine("round (measured)", "lambda (measured)"),
            ),
            "log",
        ),
    ),
    "Lambda by round",
)


@pytest.fixture(scope="session")
def study_folder(sweep_folder, tmp_path_factory):
    """A study of one sweep, with a verdict of each kind and names that try to be markup."""
    folder = tmp_path_factory.mktemp("studies") / "five"
    shutil.copytree(sweep_folder, folder / "pull")
    verdicts = (
        DecidedClaim("5.1", "lambda <b>runs</b> away", "confirmed", documented="204658", where="3"),
        DecidedClaim(
            "5.2",
            "sigma & co",
            "not confirmed",
            phrase="最终稳定在一个<b>非零</b>的均衡点，σ",
            reason="100% not",
            remark="The sign is <i>wrong</i>: it grows.",
        ),
        DecidedClaim("5.3", "50 rounds", "cannot be seen at this scale"),
    )
    study = StudyRecord(
        study=5,
        title="Five </script>",
        note="note 5",
        about="Why does lambda run away?",
        scale="quick",
        scale_about="the digits.",
        command="mooring study 5 scale=quick seeds=1,2 data.root=/a_b",
        settings=("data.root=/a_b",),
        seeds=(1, 2),
        sweeps=("pull",),
        verdicts=verdicts,
        tables=(PrintedTable("Of <client> 3", ("round", "=measured"), (("0", "12.04"), ("9", "=1+1"))), BY_ROUND),
        courses=(replace(BY_ROUND, title="Every round, seed 2", name="Every round seed 2", seeds=(2,)),),
        runs=(),
    )
    write_study(folder, study)
    return folder


def pytest_terminal_summary(terminalreporter):
    """What was skipped was not tested: say so at the end, loudly, once for each reason."""
    reports = terminalreporter.stats.get("skipped", [])
    for reason in sorted({report.longrepr[2].removeprefix("Skipped: ") for report in reports}):
        terminalreporter.write_line(f"NOT TESTED: {reason}", red=True, bold=True)
