"""Train once, fuse many: what `mooring fuse` promises."""

import json
import shutil

import pytest

from mooring import load, run_experiment
from mooring.fusion import FUSIONS

QUICK = ("training.rounds=2", "training.local_epochs=1", "engine.workers=1")
TABLE = ("fusion", "accuracy", "95 % interval", "upload", "server")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """One run of v7 on the digits, never changed by a test."""
    folder = tmp_path_factory.mktemp("trained") / "v7"
    run_experiment(load(overrides=["method=v7", *QUICK, f"out={folder}"])[0])
    return folder


@pytest.fixture
def folder(trained, tmp_path):
    """A copy of it."""
    return shutil.copytree(trained, tmp_path / "v7")


def fused(cli, *arguments):
    code, out, err = cli("fuse", *map(str, arguments), "--json")
    assert code == 0, err
    rows = json.loads(out)
    return rows if isinstance(rows, list) else [rows]


def rejected(cli, *arguments):
    code, _, err = cli("fuse", *map(str, arguments))
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    return err


def test_the_same_rule_gives_the_same_result_as_the_run(folder, cli):
    result = json.loads((folder / "result.json").read_text())
    [row] = fused(cli, folder, "--fusion", "feature-ensemble")
    assert row["metrics"] == result["rounds"][-1]["metrics"]
    assert row["metrics"]["accuracy"] == result["accuracy"]
    assert row["upload_bytes"] == sum(upload["bytes"] for upload in result["uploads"] if upload["round"] == 1)
    assert row["passes"] == 5


def test_fusing_later_is_fusing_now(folder, cli, tmp_path):
    """Another rule over old uploads equals a run that had this rule from the start; bytes included."""
    now = tmp_path / "now"
    code, _, err = cli("run", "method=v7", "fusion=class-expert", *QUICK, f"out={now}", "--quiet")
    assert code == 0, err
    result = json.loads((now / "result.json").read_text())
    [row] = fused(cli, folder, "--fusion", "class-expert")
    assert row["metrics"] == result["rounds"][-1]["metrics"]
    assert row["upload_bytes"] == sum(upload["bytes"] for upload in result["uploads"] if upload["round"] == 1)


def test_nothing_is_trained_and_no_upload_is_touched(folder, cli):
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    fused(cli, folder, "--fusion", "class-expert,nearest-prototype,analytic")
    assert {path: path.read_bytes() for path in before} == before
    assert sorted(path.name.rpartition("-")[0] for path in (folder / "fusions").iterdir()) == [
        "analytic",
        "class-expert",
        "nearest-prototype",
    ]


def test_clients_can_be_left_out(folder, cli):
    [some] = fused(cli, folder, "--fusion", "class-expert", "--clients", "0,2-3")
    [others] = fused(cli, folder, "--fusion", "class-expert", "--without", "1,4")
    assert some["clients"] == others["clients"] == [0, 2, 3]
    assert some["metrics"]["confusion"] == others["metrics"]["confusion"]
    assert some["passes"] == 3
    [everybody] = fused(cli, folder, "--fusion", "class-expert")
    assert everybody["metrics"]["confusion"] != some["metrics"]["confusion"]


def test_an_earlier_round_can_be_fused(folder, cli):
    result = json.loads((folder / "result.json").read_text())
    [row] = fused(cli, folder, "--fusion", "feature-ensemble", "--round", "1")
    assert row["metrics"]["accuracy"] == result["rounds"][0]["metrics"]["accuracy"]


def test_settings_of_a_rule_are_settings_here(folder, cli):
    weak, strong = (fused(cli, folder, "-f", "analytic", f"fusion.ridge={ridge}")[0] for ridge in (1e-3, 1e3))
    assert weak["metrics"]["accuracy"] > strong["metrics"]["accuracy"]
    assert len(list((folder / "fusions").iterdir())) == 2


def test_the_table_has_a_line_per_rule_and_says_what_was_fused(folder, cli):
    code, out, err = cli("fuse", str(folder), "--fusion", "class-expert,feature-ensemble", "--without", "0")
    assert code == 0, err
    assert all(heading in out for heading in TABLE)
    told = " ".join(out.split())
    assert "round 2, 4 of 5 clients; n = 1 (training seed 1, split seed 1), interval by Wilson" in told
    assert "The majority-class baseline (always" in told
    assert "No settled winner" in told


@pytest.mark.slow
def test_all_rules_at_once_tell_which_do_not_apply(folder, cli):
    code, out, err = cli("fuse", str(folder), "--fusion", "all")
    assert code == 0, err
    assert "left out: fusion=calibrated: needs validation images" in err
    assert all(kind in out for kind in FUSIONS if kind != "calibrated")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fusion", "class-exprt"], "did you mean 'class-expert'?"),
        (["--fusion", ","], "names no rule"),
        (["--fusion", "analytic", "fusion.rigde=1"], "fusion.rigde=1: unknown key; did you mean 'ridge'?"),
        (["--fusion", "analytic", "ridge=1"], "write fusion.KEY=VALUE"),
        (["--round", "7"], "round 7: was not kept by this run; kept rounds: 1, 2"),
        (["--clients", "0,9"], "client 9: uploaded nothing in this run; valid: 0, 1, 2, 3, 4"),
        (["--clients", "zero"], "--clients zero: must be client numbers such as 0,2-4"),
        (["--without", "9"], "client 9: uploaded nothing in this run; valid: 0, 1, 2, 3, 4"),
        (["--without", "0-4"], "nothing to fuse"),
        (["--fusion", "calibrated"], "needs validation images and this run has none; set data.validation=0.1"),
    ],
)
def test_a_mistake_is_one_line_with_a_remedy(folder, cli, arguments, message):
    assert message in rejected(cli, folder, *arguments)


def test_a_folder_without_a_run_is_rejected(tmp_path, cli):
    assert "name the folder of a finished run" in rejected(cli, tmp_path)


def test_the_settings_of_the_runs_own_rule_are_the_defaults(cli, tmp_path):
    """`--fusion linear-head` dropped the run's encoder, and fused random filters instead."""
    folder = tmp_path / "run"
    settings = ("encoder=none", "encoder.filters=8", "fusion.prior=uniform", "data.limit=400")
    code, _, err = cli("run", "method=mooring", *settings, f"out={folder}", "--quiet")
    assert code == 0, err
    result = json.loads((folder / "result.json").read_text())
    [row] = fused(cli, folder, "--fusion", "linear-head")
    assert (row["settings"]["map"]["filters"], row["settings"]["prior"]) == (8, "uniform")
    assert row["metrics"] == result["rounds"][-1]["metrics"]
    [without] = fused(cli, folder, "--fusion", "linear-head", "--without", "0", "fusion.prior=counts")
    assert (without["settings"]["map"]["filters"], without["settings"]["prior"]) == (8, "counts")


def test_an_upload_that_has_changed_is_rejected(folder, cli):
    upload = folder / "uploads" / "round-001" / "client-0002.safetensors"
    upload.write_bytes(upload.read_bytes()[:-1] + b"\x00")
    assert "client-0002.safetensors: the upload has changed" in rejected(cli, folder)


def test_statistics_cannot_become_a_model(cli, tmp_path):
    folder = tmp_path / "afl"
    code, _, err = cli("run", "method=afl", f"out={folder}", "--quiet")
    assert code == 0, err
    assert "uploaded no whole model in this run of afl" in rejected(cli, folder, "--fusion", "class-expert")
    [row] = fused(cli, folder, "--fusion", "analytic")
    assert row["metrics"]["accuracy"] == json.loads((folder / "result.json").read_text())["accuracy"]


def test_a_run_with_relative_paths_is_fused_from_another_folder(cli, tmp_path, monkeypatch):
    assert cli("partition", "--export", "plan.json")[0] == 0
    quick = ("training.rounds=1", "training.local_epochs=1", "engine.workers=1", "out=run", "--quiet")
    code, _, err = cli("run", "method=v7", "partition.kind=file", "partition.path=plan.json", *quick)
    assert code == 0, err
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    [row] = fused(cli, tmp_path / "run", "--fusion", "feature-ensemble")
    assert row["metrics"]["accuracy"] == json.loads((tmp_path / "run/result.json").read_text())["accuracy"]
