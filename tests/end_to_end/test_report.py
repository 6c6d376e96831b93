"""`mooring report` and `mooring watch` as a user calls them."""

import shutil

import pytest
from report_folders import relabelled


@pytest.fixture
def run_folder(v12_run, tmp_path):
    shutil.copytree(v12_run, tmp_path / "run")
    return tmp_path / "run"


def test_the_page_is_written_beside_the_run_and_named(cli, run_folder):
    code, out, err = cli("report", "run")
    assert (code, out.strip(), err) == (0, "run/report.html", "")
    assert (run_folder / "report.html").stat().st_size < 2_000_000


def test_runs_made_separately_are_compared_on_one_page(cli, run_folder, tmp_path):
    relabelled(run_folder, tmp_path / "other", ["method=v7", "seed=2"], 0.5)
    code, out, err = cli("compare", "run", "other", "--format", "markdown")
    assert (code, err) == (0, "")
    text = (tmp_path / "comparison.md").read_text()
    assert "2 experiments on digits: v12, v7" in text
    assert "no settled winner" in text
    assert "no settled winner: " in out
    assert "majority-class baseline (always '3') reaches 10.3 %" in " ".join(out.split())
    assert out.endswith("written: comparison.md\n")
    code, out, err = cli("compare", "run")
    assert (code, out) == (2, "")
    assert "two folders or more" in err


def test_seeds_of_one_experiment_are_told_together(cli, run_folder, tmp_path):
    relabelled(run_folder, tmp_path / "again", ["method=v12", "seed=2"], 0.5)
    code, out, _ = cli("compare", "run", "again", "--format", "md")
    assert code == 0
    assert "1 experiment on digits: v12; 2 runs" in out
    assert "v12: " in out
    assert "over 2 seeds, on 360 test images" in " ".join(out.split())


def test_a_format_goes_where_it_is_told(cli, run_folder, tmp_path):
    code, out, _ = cli("report", "run", "--format", "latex", "--out", "paper/tables.tex")
    assert (code, out.strip()) == (0, "paper/tables.tex")
    assert (tmp_path / "paper" / "tables.tex").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("nowhere",), "holds nothing to report on"),
        (("run", "--format", "exel"), "did you mean 'excel'?"),
    ],
)
def test_a_mistake_is_one_line(cli, run_folder, arguments, told):
    code, out, err = cli("report", *arguments)
    assert (code, out) == (2, "")
    assert told in err
    assert len(err.splitlines()) == 1


def test_a_damaged_result_is_one_line(cli, run_folder):
    (run_folder / "result.json").write_text('{"format": 2, "method": "v12"}')
    code, _, err = cli("report", "run")
    assert (code, err) == (
        2,
        "error: run/result.json: accuracy: is required and missing; repeat the run with --again\n",
    )
    assert not (run_folder / "report.html").exists()


def test_watching_a_finished_run_shows_one_frame_and_ends(cli, run_folder):
    code, out, _ = cli("watch", "run")
    assert code == 0
    assert "finished" in out
    assert "anchor pull" in out
    assert "(lambda)" in out
    assert max(map(len, out.splitlines())) <= 80


def test_a_run_that_stopped_says_how_to_go_on(cli, run_folder):
    (run_folder / "result.json").unlink()
    code, out, _ = cli("watch", "run", "--once")
    assert code == 0
    assert "mooring resume run" in out


def test_watching_nothing_is_rejected(cli, tmp_path):
    (tmp_path / "empty").mkdir()
    code, _, err = cli("watch", "empty")
    assert code == 2
    assert "holds no run" in err
