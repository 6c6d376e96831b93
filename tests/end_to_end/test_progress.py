"""What a run tells while it goes on, and where its time went."""

import json

import pytest

from mooring.simulation.clock import Clock

TINY = ("data.limit=100", "partition.clients=2", "training.rounds=1", "training.local_epochs=1", "engine.workers=1")


def test_programs_are_told_every_event_as_a_line_of_json_beside_the_result(cli):
    code, out, err = cli("run", "method=v4", *TINY, "--json", "--events")
    assert code == 0
    words = [json.loads(line)["event"] for line in err.splitlines()]
    assert words[0] == "partition"
    assert {"start", "tick", "round", "fusing", "fused"} <= set(words)
    spent = json.loads(out)["spent"]
    assert set(spent) == {"prepare", "train", "fuse", "evaluate", "write"}
    assert sum(spent.values()) == pytest.approx(json.loads(out)["seconds"])


def test_the_table_says_where_the_time_went_in_one_line(cli):
    _, out, _ = cli("run", "method=v4", *TINY, "--quiet")
    [line] = [line for line in out.splitlines() if line.startswith("v4: prepare")]
    assert [word for word in line.replace(",", "").split() if word.isalpha() and word != "s"] == [
        *("prepare", "train", "fuse", "evaluate", "write")
    ]


def test_every_moment_belongs_to_one_phase():
    clock = Clock()
    with clock.during("train"), clock.during("write"):
        pass
    clock.move("train", "fuse", 0.0)
    total = clock.total()
    spent = clock.spent()
    assert spent.train >= 0
    assert spent.write > 0
    assert spent.prepare + spent.train + spent.write == pytest.approx(total)
