"""What the command line shows."""

import json
import subprocess
import sys
import time

import pytest
import yaml

from mooring.data.catalogue import SOURCES
from mooring.methods import METHODS


def test_help_answers_at_once():
    """Beside a Python that imports nothing but typer, in turns, because cores are shared."""
    ours, bare = "from mooring.cli import main; main()", "import typer"
    seconds = {ours: [], bare: []}
    for _ in range(4):
        for code, taken in seconds.items():
            began = time.perf_counter()
            shown = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
            taken.append(time.perf_counter() - began)
            assert code == bare or "partition" in shown.stdout
    assert min(seconds[ours]) < 4 * min(seconds[bare])


def test_importing_the_package_imports_nothing_heavy():
    code = "import mooring, sys; print([m for m in ('torch', 'numpy', 'pydantic', 'rich') if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_methods_lists_every_method_with_a_line_about_it(cli):
    code, out, _ = cli("methods", "--json")
    listed = json.loads(out)
    assert code == 0
    assert [row["method"] for row in listed] == list(METHODS)
    assert all(row["about"] for row in listed)
    assert "v7" in cli("methods")[1]


@pytest.mark.parametrize("name", METHODS)
def test_show_prints_a_tree_that_can_be_run_again(cli, name, tmp_path):
    code, out, _ = cli("show", name)
    assert code == 0
    (tmp_path / "shown.yaml").write_text(out)
    assert yaml.safe_load(out)["method"]["name"] == name
    assert cli("partition", "shown.yaml", "--json")[0] == 0


def test_data_lists_every_source(cli, tmp_path):
    code, out, _ = cli("data", "--root", tmp_path, "--json")
    found = {row["name"]: row["found"] for row in json.loads(out)}
    assert code == 0
    assert found.keys() == SOURCES.keys()
    assert found["digits"] is True
    assert found["cifar10"] is False
    assert "MOORING_DATA" in cli("data", "--root", tmp_path)[1]


def test_partition_previews_what_a_run_would_use_and_exports_it(cli, tmp_path):
    code, out, _ = cli("partition", "partition.alpha=0.5", "--export", "plan.json")
    assert code == 0
    assert "sha256" in out
    _, drawn, _ = cli("partition", "partition.alpha=0.5", "--json")
    _, imported, _ = cli("partition", "partition.kind=file", "partition.path=plan.json", "--json")
    assert json.loads(drawn) == json.loads(imported)


def test_many_classes_and_clients_still_fit_a_terminal(cli):
    code, out, _ = cli("partition", "partition.clients=40", "partition.alpha=0.5")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())


def test_progress_without_a_terminal_is_a_line_per_round(cli):
    code, _, err = cli("run", "training.rounds=2", "training.local_epochs=1", "engine.workers=1")
    assert code == 0
    assert [line.split(",")[0] for line in err.splitlines()] == ["v7: round 1/2", "v7: round 2/2"]


def test_quiet_is_quiet(cli):
    code, out, err = cli("run", "training.rounds=1", "training.local_epochs=1", "engine.workers=1", "--quiet")
    assert (code, err) == (0, "")
    assert "accuracy" in out
