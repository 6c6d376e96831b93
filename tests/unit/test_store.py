import json
import os
import threading

import pytest
import torch

from mooring.errors import StoreError
from mooring.store import finished, opened, read_result, strict_json, write_atomically
from mooring.types import Event, Upload


def payload(value=1.0):
    return Upload(3, 0, 12, {"head.prototypes": torch.full((2, 3), value)})


def test_numbers_that_are_not_finite_become_null():
    text = strict_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": (None, True)})
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": [None, True]}


def test_an_upload_comes_back_as_it_was(tmp_path):
    with opened(tmp_path / "run", "seed: 1\n") as store:
        record = store.save_upload(payload())
        back = store.load_upload(record)
    assert torch.equal(back.tensors["head.prototypes"], torch.ones(2, 3))
    assert (back.client, back.round, back.samples) == (3, 0, 12)
    assert record["bytes"] == (tmp_path / "run/uploads/round-000/client-0003.safetensors").stat().st_size


def test_the_same_upload_is_the_same_bytes(tmp_path):
    with opened(tmp_path / "a", "") as first, opened(tmp_path / "b", "") as second:
        assert first.save_upload(payload()) == second.save_upload(payload())
        assert first.save_upload(payload(2.0))["sha256"] != second.save_upload(payload())["sha256"]


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: data[:-1] + b"x", lambda _: b""])
def test_a_changed_upload_is_refused(tmp_path, damage):
    with opened(tmp_path / "run", "") as store:
        record = store.save_upload(payload())
        path = tmp_path / "run/uploads/round-000/client-0003.safetensors"
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(StoreError, match="has changed since it was written"):
            store.load_upload(record)


def test_a_folder_in_use_is_locked_and_free_again_afterwards(tmp_path):
    with opened(tmp_path, ""):
        told = []

        def second():
            try:
                with opened(tmp_path, ""):
                    pass
            except StoreError as error:
                told.append(str(error))

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert "another run is using this folder" in told[0]
    with opened(tmp_path, ""):
        pass


def test_events_are_strict_json_lines(tmp_path):
    with opened(tmp_path, "") as store:
        store.record(Event("round", {"client": 1, "lambda": float("inf")}))
    (line,) = (tmp_path / "events.jsonl").read_text().splitlines()
    assert json.loads(line)["lambda"] is None


def test_a_finished_result_is_found_and_another_experiments_is_refused(tmp_path):
    with opened(tmp_path, "") as store:
        assert finished(tmp_path, "abc") is None
        store.finish({"format": 1, "fingerprint": "abc", "complete": True, "method": "v7"})
    assert finished(tmp_path, "abc")["method"] == "v7"
    with pytest.raises(StoreError, match="holds the result of another experiment"):
        finished(tmp_path, "def")


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 99}'])
def test_a_broken_result_is_named(tmp_path, text):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(StoreError, match=r"result.json: is not"):
        read_result(tmp_path)


def test_writing_is_all_or_nothing(tmp_path, monkeypatch):
    path = tmp_path / "result.json"
    write_atomically(path, b"old")

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
