"""States on disk: a damaged one is noticed, and the one before it is used."""

import random

import pytest
import torch

from mooring.events import ClientRecord
from mooring.record import StateFolder, UploadRecord
from mooring.seeds import generator


def state(number):
    return {"position": torch.tensor([number, 0, 0, 0]), "weights": torch.randn(64, generator=generator(number, "w"))}


def delivered(digest):
    return UploadRecord(3, 0, 12, 100, digest * 64)


@pytest.fixture
def states(tmp_path):
    return StateFolder(tmp_path, "f" * 64)


def number(states, client=3):
    found = states.last(client)
    if found is None:
        return None
    n = int(found["position"][0])
    assert torch.equal(found["weights"], state(n)["weights"])
    return n


def test_the_newest_state_is_the_one_to_go_on_from(states):
    assert states.last(3) is None
    for n in range(4):
        states.keep(3, state(n))
        assert number(states) == n
    assert states.last(2) is None
    assert sorted(path.name for path in (states.folder / "state").iterdir()) == [
        "client-0003.before",
        "client-0003.state",
    ]


def test_two_hundred_corruptions_are_all_detected(states):
    rng = random.Random(0)
    states.keep(3, state(1))
    states.keep(3, state(2))
    newest = states.folder / "state" / "client-0003.state"
    good = newest.read_bytes()
    for _ in range(200):
        data = bytearray(good)
        match rng.randrange(4):
            case 0:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            case 1:
                del data[rng.randrange(len(data)) :]
            case 2:
                start = rng.randrange(len(data))
                data[start : start + rng.randrange(1, 200)] = rng.randbytes(rng.randrange(1, 200))
            case 3:
                data += rng.randbytes(rng.randrange(1, 50))
        newest.write_bytes(bytes(data))
        assert number(states) == (2 if bytes(data) == good else 1)


def test_if_both_are_damaged_the_client_begins_again(states):
    states.keep(3, state(1))
    states.keep(3, state(2))
    for path in (states.folder / "state").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert states.last(3) is None


def test_a_crash_between_the_two_files_leaves_the_older_one(states):
    states.keep(3, state(1))
    newest = states.folder / "state" / "client-0003.state"
    newest.replace(newest.with_suffix(".before"))
    assert number(states) == 1


def test_a_state_of_another_experiment_or_client_is_not_taken(states, tmp_path):
    states.keep(3, state(1))
    assert StateFolder(tmp_path, "0" * 64).last(3) is None
    folder = states.folder / "state"
    (folder / "client-0003.state").replace(folder / "client-0004.state")
    assert states.last(4) is None


def test_a_state_relies_on_the_uploads_before_it(states, tmp_path):
    states.keep(3, state(1))
    states.delivered(delivered("a"))
    states.keep(3, state(2))
    assert states.facts(3).uploads == (delivered("a"),)
    later = StateFolder(tmp_path, "f" * 64)
    assert number(later) == 1  # the upload is not there: the state before it is
    later.delivered(delivered("b"))
    assert number(later) == 1  # it is there, and has changed
    later.delivered(delivered("a"))
    assert number(later) == 2


def test_a_state_knows_what_was_measured_before_it(states, tmp_path):
    rows = [ClientRecord(3, round_, 7 * round_, lambda_felt=0.1 + round_, prototype_norms=(1.5,)) for round_ in (0, 1)]
    for row in rows:
        states.measured(row)
    states.measured(ClientRecord(4, 0))
    states.keep(3, state(1))
    assert StateFolder(tmp_path, "f" * 64).facts(3).records == tuple(rows)
