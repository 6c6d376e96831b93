"""A study from the command line, on as little as possible."""

import json
import sys

import pytest

from mooring.notes._plan import load_study, study_file

TINY = ("training.rounds=2", "training.local_epochs=1", "data.limit=120", "seeds=1", "--workers", "1")
WORDS = {"confirmed", "not confirmed", "cannot be seen at this scale", "was not run"}


def test_a_study_decides_every_claim_and_is_not_run_twice(cli, monkeypatch, tmp_path):
    code, out, err = cli("study", "5", *TINY, "out=s", "--table")
    assert code == 0, err
    assert out.splitlines()[-1].endswith(" s/report.html")
    told = json.loads((tmp_path / "s" / "study.json").read_text("utf-8"))
    assert told["sweeps"] == ["explosion", "free", "as-run", "sums"]
    verdicts = {row["id"]: row["verdict"] for row in told["verdicts"]}
    assert set(verdicts.values()) <= WORDS
    assert list(verdicts) == [claim.id for claim in load_study(study_file("5")).claims]
    assert verdicts["runaway"] == "not confirmed"  # not in two rounds of one epoch
    assert len(told["runs"]) == 14
    assert len(told["sentences"]) == len(load_study(study_file("5")).sentences)
    assert out.count("├") == len(verdicts) - 1  # the table has a row per claim
    assert "study.md" in out
    assert "runs away" in (tmp_path / "s" / "study.md").read_text("utf-8")
    code, out, err = cli("study", "5", *TINY, "out=s", "--json")
    assert code == 0, err
    assert json.loads(out)["verdicts"] == told["verdicts"]
    without_the_extra(cli, monkeypatch, tmp_path)


def without_the_extra(cli, monkeypatch, tmp_path):
    """The study stands; one line says how to get its page. A run that fails is told all the same."""
    (tmp_path / "s" / "report.html").unlink()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, out, err = cli("study", "5", *TINY, "out=s", "--quiet")
    assert code == 0, err
    assert out.splitlines()[-1].endswith(" s/study.md")
    assert len(out.splitlines()) <= 22  # without --table, plain lines, on one screen with the prompt
    assert "On real images: what carries over to SVHN" in out
    assert max(map(len, out.splitlines())) <= 80
    assert err == "no report page: jinja2: is not installed; pip install 'mooring[report]', then mooring report s\n"
    assert not (tmp_path / "s" / "report.html").exists()
    code, _, err = cli("report", "s")
    assert (code, err) == (2, "error: jinja2: is not installed; pip install 'mooring[report]'\n")


@pytest.mark.slow
def test_less_than_all_runs_is_told_without_the_extra_too(cli, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, _, err = cli("study", "5", *TINY, "training.lr=1e6", "training.clip=null", "out=s", "--quiet")
    assert code == 3, err
    assert "no report page" in err.splitlines()[-2]
    assert "did not finish" in err.splitlines()[-1]


def test_the_list_and_the_mistakes(cli):
    code, out, _ = cli("study")
    assert code == 0
    assert 5 < len(out.splitlines()) <= 22  # it fits a screen of 80 x 24
    assert all(len(line) <= 80 for line in out.splitlines())
    assert cli("study", "7")[0] == 2
    code, _, err = cli("study", "5", "scale=quik")
    assert (code, err) == (2, "error: scale=quik: unknown; did you mean 'quick'?\n")
    assert cli("study", "5", "seeds=one")[0] == 2
    assert cli("study", "5", "seeds=1,1")[0] == 2
    code, _, err = cli("study", "5", "method=v7")
    assert (code, len(err.splitlines())) == (2, 1)
    assert "mooring sweep" in err
    code, _, err = cli("study", "5", "trainig.rounds=2")
    assert code == 2
    assert "did you mean training.rounds?" in err


def test_data_that_is_not_there_is_told_once(cli, tmp_path):
    code, _, err = cli("study", "5", "scale=cpu", f"data.root={tmp_path}")
    assert code == 2
    assert err.startswith("error: ")
    assert len(err.splitlines()) == 1
    assert not (tmp_path / "studies-out").exists()
