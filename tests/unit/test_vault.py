"""States on disk: a damaged one is noticed, and the one before it is used."""

import random

import pytest
import torch

from mooring.seeds import generator
from mooring.store.vault import Vault


def state(number):
    return {"position": torch.tensor([number, 0, 0, 0]), "weights": torch.randn(64, generator=generator(number, "w"))}


@pytest.fixture
def vault(tmp_path):
    return Vault(tmp_path, "f" * 64)


def number(vault, client=3):
    found = vault.last(client)
    if found is None:
        return None
    n = int(found["position"][0])
    assert torch.equal(found["weights"], state(n)["weights"])
    return n


def test_the_newest_state_is_the_one_to_go_on_from(vault):
    assert vault.last(3) is None
    for n in range(4):
        vault.keep(3, state(n))
        assert number(vault) == n
    assert vault.last(2) is None
    assert sorted(path.name for path in (vault.folder / "state").iterdir()) == [
        "client-0003.before",
        "client-0003.state",
    ]


def test_two_hundred_corruptions_are_all_detected(vault):
    rng = random.Random(0)
    vault.keep(3, state(1))
    vault.keep(3, state(2))
    newest = vault.folder / "state" / "client-0003.state"
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
        assert number(vault) == (2 if bytes(data) == good else 1)


def test_if_both_are_damaged_the_client_begins_again(vault):
    vault.keep(3, state(1))
    vault.keep(3, state(2))
    for path in (vault.folder / "state").iterdir():
        path.write_bytes(path.read_bytes()[:-1])
    assert vault.last(3) is None


def test_a_crash_between_the_two_files_leaves_the_older_one(vault):
    vault.keep(3, state(1))
    newest = vault.folder / "state" / "client-0003.state"
    newest.replace(newest.with_suffix(".before"))
    assert number(vault) == 1


def test_a_state_of_another_experiment_or_client_is_not_taken(vault, tmp_path):
    vault.keep(3, state(1))
    assert Vault(tmp_path, "0" * 64).last(3) is None
    folder = vault.folder / "state"
    (folder / "client-0003.state").replace(folder / "client-0004.state")
    assert vault.last(4) is None


def test_a_state_relies_on_the_uploads_before_it(vault, tmp_path):
    vault.keep(3, state(1))
    vault.delivered(3, 0, "a" * 64)
    vault.keep(3, state(2))
    assert vault.vouched(3) == {0: "a" * 64}
    later = Vault(tmp_path, "f" * 64)
    assert number(later) == 1  # the upload is not there: the state before it is
    later.delivered(3, 0, "b" * 64)
    assert number(later) == 1  # it is there, and has changed
    later.delivered(3, 0, "a" * 64)
    assert number(later) == 2
