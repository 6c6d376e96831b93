"""What the command line shows."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from mooring.cli import app, on_screen
from mooring.cli.verbs import COLUMN
from mooring.data._catalogue import SOURCES
from mooring.methods import METHODS

FULL = Path("/dev/full")
HEAVY = "print([m for m in ('torch', 'numpy', 'pydantic', 'sklearn') if m in sys.modules], file=sys.stderr)"


def test_help_imports_nothing_heavy():
    """That is what lets it answer at once; how fast that is, `make bench` measures."""
    code = f"import atexit, sys; atexit.register(lambda: {HEAVY}); from mooring.cli import main; main()"
    shown = subprocess.run([sys.executable, "-c", code, "--help"], capture_output=True, text=True, check=True)
    assert "partition" in shown.stdout
    assert shown.stderr == "[]\n"


def test_help_shows_every_verb_in_its_group_on_one_screen(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = cli("--help")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) <= 23  # a prompt below
    assert max(map(len, lines)) <= 80
    left, right = ("\n".join(line[part] for line in lines) for part in (slice(COLUMN), slice(COLUMN, None)))
    shown = re.findall(r"^  ([a-z-]+) +\S", f"{left}\n{right}", re.MULTILINE)
    named = {command.name for command in app.registered_commands} | {group.name for group in app.registered_groups}
    assert set(shown) == named
    monkeypatch.setenv("COLUMNS", "50")
    assert max(map(len, cli("--help")[1].splitlines()[1:])) <= 50


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["card", "a model.mooring"], "card has a new name; write: mooring model-card 'a model.mooring'"),
        (["recover", "job.mooring", "--site", "north"], "write: mooring reveal-masks job.mooring --site north"),
        (["fuse", "job.mooring", "north.mooring"], "fuse files with: mooring fuse-files job.mooring north.mooring"),
        (["fuse", "--into", "model.mooring", "east.mooring"], "--into: is an option of mooring fuse-files, which"),
        (["fuse", "run", "--strict"], "--strict: is an option of mooring fuse-files, which"),
    ],
)
def test_a_verb_that_has_moved_names_its_new_spelling(cli, words, answer):
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert answer in err
    assert len(err.splitlines()) == 1


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


def test_methods_and_fusions_are_grouped_and_found_by_a_word(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = cli("methods", "lambda")
    assert code == 0
    assert {"v7", "v12", "closed-form"} < {line.split()[0] for line in out.splitlines() if line[:1].strip()}
    assert "fedavg-1" not in out
    assert max(map(len, out.splitlines())) <= 80
    shown = cli("fusions", "soft-max")[1]
    assert "average of the clients' soft-max outputs" in shown
    assert "Guha et al. 2019; uploads model; server: under a second" in " ".join(shown.split())
    [row] = json.loads(cli("fusions", "AISTATS 2024", "--json")[1])
    assert (row["fusion"], row["uploads"], row["server"]) == ("fisher", "model, fisher diagonal", "")
    assert "fedpft" in cli("methods", "2024")[1]
    assert cli("methods", "lambada")[0] == 2


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
    assert found.keys() == SOURCES.keys() - {"memory"}  # those come from Python
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
    code, _, err = cli("run", "method=v7", "training.rounds=2", "training.local_epochs=1", "engine.workers=1")
    assert code == 0
    told = ["v7: 5 clients with 1,437 images", "v7: round 1 of 2", "v7: round 2 of 2"]
    assert [line.partition(": accuracy")[0] for line in err.splitlines()] == told


def test_quiet_is_quiet(cli):
    code, out, err = cli("run", "training.rounds=1", "training.local_epochs=1", "engine.workers=1", "--quiet")
    assert (code, err) == (0, "")
    assert "accuracy" in out


def test_a_message_is_broken_between_words_in_a_terminal_and_its_command_stays_whole(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    told = (
        "error: runs/a-long-name: has not ended; if it is not running, resume it with: mooring resume runs/a-long-name"
    )
    assert on_screen(told) == told
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    *words, command = on_screen(told).splitlines()
    assert " ".join(words) + f" {command}" == told
    assert command == "mooring resume runs/a-long-name"
    assert max(map(len, words)) <= 40


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["rn"], "error: no such command 'rn'; did you mean 'run'? (mooring --help)\n"),
        (["evaluate", "m.mooring"], "error: missing option '--data' (mooring evaluate --help)\n"),
        (["methods", "--jsn"], "error: no such option: --jsn; did you mean --json? (mooring methods --help)\n"),
        (["sweep", "seed=1", "--workers", "0"], "error: invalid value for '--workers': 0 is not in the range x>=1"),
    ],
)
def test_a_command_that_is_misused_is_answered_in_one_line(cli, words, told):
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    assert err.startswith(told)


def ended(words, function, **streams):
    """The command line as a program of its own."""
    code, environment = f"from mooring.cli import {function}; {function}()", os.environ | {"COLUMNS": "80"}
    return subprocess.run([sys.executable, "-c", code, *words], env=environment, check=False, **streams)


@pytest.mark.parametrize("words", [("methods",), ("run", "method=v77"), ("--version",)])
def test_the_program_ends_at_once_with_all_it_said_and_the_same_code(words):
    """What `main` leaves to Python, `program` does itself."""
    slowly, at_once = (ended(words, function, capture_output=True) for function in ("main", "program"))
    assert (slowly.returncode, slowly.stdout, slowly.stderr) == (at_once.returncode, at_once.stdout, at_once.stderr)
    assert slowly.stdout or slowly.stderr


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_the_program_says_when_its_words_were_lost():
    with FULL.open("w") as full:
        assert ended(["--version"], "program", stdout=full, stderr=subprocess.DEVNULL).returncode != 0
