"""One thing has one name wherever people read of it: a round, and a method of which a part was changed."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from source_files import pixels

QUICK = ("data.limit=400", "training.local_epochs=1", "engine.workers=1")
RISING = ("method=v7", "weight.kind=ramp", "weight.initial=0", "weight.final=15000")  # too much for SGD at the end
CHANGED = "v7 + fusion=class-expert"


@pytest.fixture
def report(cli):
    """The report on a folder, as text."""

    def report(folder):
        code, out, err = cli("report", folder, "--format", "markdown")
        assert code == 0, err
        return Path(out.strip()).read_text("utf-8")

    return report


def test_a_partial_file_is_not_called_the_official_test_set(cli, tmp_path, report):
    """The files have 50 of the 26,032 official test images, and 20 of them are used."""
    for part, count in (("train", 60), ("test", 50)):
        labels = (np.arange(count, dtype=np.uint8) % 10 + 1)[:, None]
        savemat(tmp_path / f"{part}_32x32.mat", {"X": pixels(32, 32, 3, count), "y": labels})
    data = ("data.source=svhn", f"data.root={tmp_path}", "data.test_limit=20")
    code, out, err = cli("run", *data, "partition.clients=2", "training.local_epochs=1", "engine.workers=1", "out=run")
    assert code == 0, err
    assert "the files of svhn hold 50 test images; the official test set has 26,032" in " ".join(err.split())
    sentence = "20 test images of svhn; its official test set has 26,032"
    assert f"accuracy on {sentence}" in " ".join(out.split())
    assert sentence in report("run")


def test_the_last_of_two_rounds_is_round_2_everywhere_people_read(cli, report):
    code, _, err = cli("run", *RISING, *QUICK, "training.rounds=2", "out=run")
    assert code == 0, err
    name = "v7 + weight=ramp, weight.initial=0, weight.final=15000"
    fused = [line.rpartition(": accuracy")[0] for line in err.splitlines() if ": accuracy" in line]
    assert fused == [f"{name}: round 1 of 2", f"{name}: round 2 of 2"]
    assert "after round 2 of 2" in cli("watch", "run")[1]
    assert "there is no official test set; round 2, all clients" in " ".join(cli("fuse", "run")[1].split())
    assert cli("fuse", "run", "--round", "2")[0] == 0
    assert "round 3: was not kept by this run; kept rounds: 1, 2" in cli("fuse", "run", "--round", "3")[2]
    assert "too large for SGD at 2 of 5 clients from round 2." in " ".join(cli("doctor", "run")[1].split())
    findings = json.loads(cli("doctor", "run", "--json")[1])["findings"]
    assert {shown["round"] for row in findings for shown in row["evidence"] if shown["round"]} == {
        1
    }  # the record keeps its indices
    page = report("run")
    assert "after round 2, seed 1)" in page
    assert f"| {name} | 2 |" in page  # accuracy by round
    assert "from round 2. | client 2, client 3 | 2 | lambda" in page  # the doctor's findings
    assert "round 3" not in page and "round 0" not in page


def test_a_method_that_was_changed_says_so_everywhere(cli, report, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    code, out, err = cli("run", "method=v7", "fusion=class-expert", *QUICK, "training.rounds=1")
    assert code == 0, err
    [folder] = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert result["method"] == CHANGED
    assert folder.name == f"digits-v7-fusion-class-expert-{result['fingerprint'][:8]}"
    assert [line.partition(": ")[0] for line in err.splitlines()] == [CHANGED, CHANGED]
    assert f"{CHANGED} " in out.splitlines()[2]
    assert report(folder).startswith(f"# {CHANGED} on digits\n")
    assert CHANGED in cli("doctor", folder)[1]
    assert CHANGED in cli("watch", folder)[1]
    code, out, _ = cli("run", "method=v4,v7", "fusion=class-expert", *QUICK, "training.rounds=1", "out=both")
    assert code == 0
    assert {path.name for path in (tmp_path / "both").iterdir()} == {
        "v4-fusion-class-expert",
        "v7-fusion-class-expert",
    }
