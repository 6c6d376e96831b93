"""Numbers that no run can have: one line, no traceback, and nobody counts to them."""

import json
import shutil

import pytest

from mooring.errors import StoreError
from mooring.record import RunFolder
from mooring.record._files import sealed
from mooring.sweeps._members import members

THOUSANDS_OF_DIGITS = "9" * 5000
READERS = (("doctor",), ("watch", "--once"), ("report", "-f", "csv"), ("verify",), ("fuse", "-f", "class-expert"))
SEARCH = """settings: [data.limit=60, data.validation=0.1]
search: {trials: 2, space: {training.lr: {low: 0.01, high: 0.1}}}
"""


@pytest.fixture
def folder(v12_run, tmp_path):
    shutil.copytree(v12_run, tmp_path / "run")
    return tmp_path / "run"


def changed(tree, path, value):
    for part in path[:-1]:
        tree = tree[part]
    assert path[-1] in tree or isinstance(path[-1], int)
    tree[path[-1]] = value


def reseal(path, where, value):
    tree = json.loads(path.read_text())
    del tree["sha256"]
    changed(tree, where, value)
    path.write_text(json.dumps(sealed(tree)))


PLACES = {
    "clients": ("partition", "clients"),
    "rounds": ("rounds", 0, "round"),
    "client": ("rounds", 0, "clients", 0, "client"),
    "steps": ("rounds", 0, "clients", 0, "steps"),
    "bytes": ("uploads", 0, "bytes"),
    "site": ("sites", 0, "number"),
    "confusion": ("rounds", 0, "metrics", "confusion", 0, 0),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_a_whole_number_beyond_every_run_is_rejected_by_its_name(folder, cli, place):
    reseal(folder / "result.json", place, 10**400)
    name = place[-1] if isinstance(place[-1], str) else place[-3]
    for words in READERS:
        code, _, err = cli(words[0], folder, *words[1:])
        if words == ("verify",):
            continue  # it says that the file has changed
        assert code == 2
        assert f"{name}" in err
        assert "a whole number up to 2^53" in err
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("text", [THOUSANDS_OF_DIGITS, "1e400", "-1e400", "Infinity"])
def test_numbers_that_do_not_fit_are_one_line_everywhere(folder, cli, text):
    whole = (folder / "result.json").read_text()
    at = whole.index('"accuracy": ') + len('"accuracy": ')
    (folder / "result.json").write_text(whole[:at] + text + whole[whole.index(",", at) :])
    for words in READERS:
        code, out, err = cli(words[0], folder, *words[1:])
        assert code in (1, 2)
        assert len((out + err).splitlines()) <= 2
        assert "Traceback" not in err


def test_nobody_counts_to_the_number_of_clients_that_a_record_claims(folder, cli):
    reseal(folder / "result.json", ("partition", "clients"), 2**53)
    for words in READERS:
        code, _, err = cli(words[0], folder, *words[1:])
        assert code in (0, 1), err
    assert len(RunFolder(folder).record.clients) < 10


@pytest.mark.parametrize("value", [10**400, 2**53 + 1, -(10**400)])
def test_events_with_numbers_beyond_every_run_are_rejected_by_line(folder, cli, value):
    (folder / "result.json").unlink()
    with (folder / "events.jsonl").open("a") as file:
        file.write(json.dumps({"event": "round", "client": value, "round": 0}) + "\n")
    code, _, err = cli("watch", folder, "--once")
    assert code == 2
    assert f"events.jsonl: line {len((folder / 'events.jsonl').read_text().splitlines())}: client=" in err
    assert len(err.splitlines()) == 1


def test_an_event_with_a_number_of_thousands_of_digits_is_rejected_by_line(folder):
    with (folder / "events.jsonl").open("a") as file:
        file.write(f'{{"event": "round", "client": {THOUSANDS_OF_DIGITS}, "round": 0}}\n')
    (folder / "result.json").unlink()
    with pytest.raises(StoreError, match="holds a number of thousands of digits"):
        _ = RunFolder(folder).events


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[", "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        (f'[{{"training.lr": {THOUSANDS_OF_DIGITS}}}]', "is not valid JSON"),
        ("{}", "must be a list, each a mapping"),
        ("[7]", "must be a list, each a mapping"),
        ('[{"training.lr": 1e400}]', "holds trials of another search"),
        ('[{"training.lr": true}]', "holds trials of another search"),
        ('[{"training.lr": "0.05"}]', "holds trials of another search"),
        ('[{"weight": "evil:Code"}]', "holds trials of another search"),
        ('[{"training.lr": 0.05}, {"training.lr": 0.06}, {"training.lr": 0.07}]', "holds trials of another search"),
    ],
)
def test_trials_that_a_search_never_proposed_are_rejected(tmp_path, text, told):
    (tmp_path / "sweep.yaml").write_text(SEARCH)
    (tmp_path / "trials.json").write_text('[{"training.lr": 0.05}]')
    assert len(members(tmp_path)) == 1
    (tmp_path / "trials.json").write_text(text)
    with pytest.raises(StoreError, match=f"{told}; remove the file, then go on with the sweep"):
        members(tmp_path)


def test_trials_are_not_read_through_a_link(tmp_path):
    (tmp_path / "sweep.yaml").write_text(SEARCH)
    (tmp_path / "other.json").write_text("[]")
    (tmp_path / "trials.json").symlink_to(tmp_path / "other.json")
    with pytest.raises(StoreError, match="is a link"):
        members(tmp_path)
