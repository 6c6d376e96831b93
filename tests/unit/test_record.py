"""The run folder: what is written comes back as it was, and what is not what was written is refused by name."""

import json
import os
import threading
from dataclasses import fields, replace

import pytest
import torch

from mooring.errors import StoreError
from mooring.events import (
    KEPT,
    ClientFailed,
    ClientRecord,
    ClientStarted,
    EpochRecord,
    PartitionDrawn,
    Remark,
    SnapshotFused,
)
from mooring.notes._study_record import PrintedTable
from mooring.record import (
    Absence,
    Environment,
    FusionRecord,
    Metrics,
    Origin,
    Result,
    RoundRecord,
    RunFolder,
    Seeds,
    SiteRecord,
    UploadRecord,
    open_run_folder,
    write_atomically,
    write_record,
)
from mooring.record._files import Unsynced
from mooring.reports._table import Quoted, Spread
from mooring.schema import MalformedRecordError, from_tree, record_tree, strict_json
from mooring.types import PartitionSummary, Upload

METRICS = Metrics(0.5, 0.4, 0.3, 0.1, (0.5, None), ((1, 0), (1, 0)))
ROW = ClientRecord(1, 0, 12, 0.5, 2.0, 0.1, {"supcon": 2.0}, 20.0, 0.7, 14.0, 20.0, 28.0, prototype_norms=(1.0, 2.0))
RESULT = Result(
    method="v7",
    accuracy=0.5,
    rounds=(RoundRecord(0, METRICS, (ROW,), 0.6, 0.1, 2),),
    partition=PartitionSummary(20, 2, (12, 8), ((12, 0), (0, 8)), (1, 1), (0.0, 0.0), (0.0, 0.0), 0.2, 1.0, 1.0, "ab"),
    seeds=Seeds(1, 2),
    complete=True,
    dataset="digits",
    data_sha256="cd",
    test_images=360,
    image_shape=(1, 8, 8),
    classes=("cat", "dog"),
    sites=(SiteRecord(0, "north", 12), SiteRecord(1, "south", 8)),
    fingerprint="abc",
    job_sha256="ef",
    absent=(Absence(0, "failed"),),
    upload_bytes=100,
    download_bytes=0,
    uploads=(UploadRecord(1, 0, 8, 100, "00", "south", "ef"),),
    seconds=1.5,
    command="mooring run method=v7",
    date="2026-01-01T00:00:00+00:00",
    environment=Environment("3.11", {"mooring": "0.2.0"}, "Linux", "x86_64", 2),
)


def upload(value=1.0):
    return Upload(3, 0, 12, {"head.prototypes": torch.full((2, 3), value)}, "north", "ab" * 32)


def test_numbers_that_are_not_finite_become_null():
    text = strict_json({"a": float("nan"), "b": [float("inf"), 1.5], "c": (None, True)})
    assert json.loads(text) == {"a": None, "b": [None, 1.5], "c": [None, True]}


def test_the_cells_of_a_table_come_back_with_their_types():
    cells = ("12", 12, 12.5, Spread(0.5, None, 3), Quoted("0.7670"), None)
    printed = PrintedTable("t", tuple("abcdef"), (cells,))
    back = from_tree(PrintedTable, json.loads(strict_json(printed)))
    assert back == printed
    assert list(map(type, back.rows[0])) == list(map(type, cells))


@pytest.mark.parametrize("cell", [True, [1], {"std": 0.5}, {"quoted": "twelve"}, {"quoted": "inf"}])
def test_what_is_no_cell_is_rejected(cell):
    with pytest.raises(MalformedRecordError, match=r"^rows\.0\.0"):
        from_tree(PrintedTable, {"title": "t", "columns": ["a"], "rows": [[cell]]})


def test_an_upload_comes_back_as_it_was(tmp_path):
    with open_run_folder(tmp_path / "run", "seed: 1\n") as writer:
        record = writer.save_upload(upload())
        back = writer.folder.upload(record)
    assert torch.equal(back.tensors["head.prototypes"], torch.ones(2, 3))
    assert (back.client, back.round, back.samples, back.site, back.job) == (3, 0, 12, "north", "ab" * 32)
    assert record.bytes == (tmp_path / "run/uploads/round-000/client-0003.safetensors").stat().st_size
    assert list(RunFolder(tmp_path / "run").uploads_on_disk()) == [record]


def test_the_same_upload_is_the_same_bytes(tmp_path):
    with open_run_folder(tmp_path / "a", "") as first, open_run_folder(tmp_path / "b", "") as second:
        assert first.save_upload(upload()) == second.save_upload(upload())
        assert first.save_upload(upload(2.0)).sha256 != second.save_upload(upload()).sha256


@pytest.mark.parametrize("damage", [lambda data: data[:-5], lambda data: data[:-1] + b"x", lambda _: b""])
def test_a_changed_upload_is_rejected(tmp_path, damage):
    with open_run_folder(tmp_path / "run", "") as writer:
        record = writer.save_upload(upload())
        path = tmp_path / "run/uploads/round-000/client-0003.safetensors"
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(StoreError, match="has changed since it was written"):
            writer.folder.upload(record)


def test_a_folder_in_use_is_locked_and_free_again_afterwards(tmp_path):
    with open_run_folder(tmp_path, ""):
        told = []

        def second():
            try:
                with open_run_folder(tmp_path, ""):
                    pass
            except StoreError as error:
                told.append(str(error))

        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
        assert "another run is using this folder" in told[0]
    with open_run_folder(tmp_path, ""):
        pass


def test_events_come_back_by_type_and_what_was_not_finite_is_none(tmp_path):
    said = [replace(ROW, lambda_raw=float("inf")), EpochRecord(1, 0, 2, {"supcon": 1.5}), SnapshotFused(0, 0.5, 1.0)]
    with open_run_folder(tmp_path, "") as writer:
        for event in said:
            writer.record(event)
    back = [timed.event for timed in RunFolder(tmp_path).events]
    assert back == [replace(ROW, lambda_raw=None), *said[1:]]
    assert all(json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines())


def test_a_line_that_was_cut_off_is_passed_over_and_a_malformed_one_is_named(tmp_path):
    with open_run_folder(tmp_path, "") as writer:
        writer.record(ROW)
    path = tmp_path / "events.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole.splitlines(keepends=True)[-1][:40])
    assert len(RunFolder(tmp_path).events) == 1
    path.write_bytes(whole + b'{"event": "round", "client": "x", "round": 0}\n')
    with pytest.raises(StoreError, match=r"line 3: client=x: must be a whole number"):
        _ = RunFolder(tmp_path).events


def test_every_kind_of_event_has_a_word_of_its_own():
    assert len({kind.word for kind in KEPT.values()}) == len(KEPT)


def test_a_result_comes_back_as_it_was(tmp_path):
    write_record(tmp_path / "result.json", RESULT)
    assert RunFolder(tmp_path).result == RESULT
    assert RESULT.last.clients[0].lambda_raw == 20.0
    assert (RESULT.site(1), RESULT.site(7)) == ("south", "client 7")


@pytest.mark.parametrize("name", [f.name for f in fields(Result) if f.name not in ("format", "files")])
def test_a_result_with_a_field_of_another_kind_is_rejected_by_name(tmp_path, name):
    tree = record_tree(RESULT) | {name: {"no": "such thing"}}
    (tmp_path / "result.json").write_text(json.dumps(tree))
    with pytest.raises(StoreError, match=rf"result.json: {name}"):
        _ = RunFolder(tmp_path).result


def test_a_finished_result_is_found_and_another_experiments_is_rejected(tmp_path):
    with open_run_folder(tmp_path, "") as writer:
        assert writer.folder.finished("abc") is None
        writer.finish(RESULT)
    assert replace(RunFolder(tmp_path).finished("abc"), files={}) == RESULT
    with pytest.raises(StoreError, match="holds the result of another experiment"):
        RunFolder(tmp_path).finished("def")
    write_record(tmp_path / "result.json", replace(RESULT, origin=Origin("old.log", "00")))
    with pytest.raises(StoreError, match="was imported from old"):
        RunFolder(tmp_path).finished("abc")


@pytest.mark.parametrize(
    ("text", "told"),
    [("{", "is not valid JSON"), ("[]", "has format unknown"), ('{"format": 99}', "has format 99, this version reads")],
)
def test_a_broken_result_is_named(tmp_path, text, told):
    (tmp_path / "result.json").write_text(text)
    with pytest.raises(StoreError, match=told):
        _ = RunFolder(tmp_path).result


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


def test_files_of_one_second_are_forced_to_disk_together_and_in_order(tmp_path, monkeypatch):
    """A state never comes to the disk before the upload that it relies on."""
    now, synced = [0.0], []
    monkeypatch.setattr("mooring.record._files.monotonic", lambda: now[0])
    monkeypatch.setattr("mooring.record._files._sync", lambda path: synced.append(path.name))
    unsynced = Unsynced()
    for name in ("upload", "state"):
        write_atomically(tmp_path / name, b"x", unsynced=unsynced)
    assert synced == []
    now[0] = 1.5
    write_atomically(tmp_path / "late", b"x", unsynced=unsynced)
    assert synced == ["upload", "state", "late", tmp_path.name]
    unsynced.sync()
    assert len(synced) == 4
    write_atomically(tmp_path / "alone", b"x")
    assert synced[4:] == [tmp_path.name]  # itself by its own handle


def test_null_is_none_where_a_field_may_be_none_and_not_a_number_where_it_may_not():
    back = from_tree(FusionRecord, record_tree(_fusion(float("nan"))))
    assert back.accuracy != back.accuracy
    assert back.upload_bytes is None
    with pytest.raises(MalformedRecordError, match="round: is required and missing"):
        from_tree(FusionRecord, {k: v for k, v in record_tree(_fusion(0.5)).items() if k != "round"})


def _fusion(accuracy):
    return FusionRecord("ot", "trained from scratch", "v7", "abc", Seeds(1, 1), 0, (0, 1), Metrics(accuracy))


def test_a_record_puts_events_and_result_together_by_client(tmp_path):
    """A run in the middle is known by its events; its result adds what each client reaches alone."""
    told = (
        PartitionDrawn(("north", "south"), RESULT.partition),
        ClientStarted(1, 8, 12, 32, 0.2),
        EpochRecord(1, 0, 0, {"supcon": 3.0}),
        replace(ROW, base_loss=9.0),
        ClientFailed(0, "client 0: out of memory"),
        SnapshotFused(0, 0.25),
        Remark("a state is damaged"),
        EpochRecord(1, 0, 0, {"supcon": 2.0}),  # resumed: the round is told again
        ROW,
    )
    with open_run_folder(tmp_path, "") as writer:
        for event in told:
            writer.record(event)
        record = RunFolder(tmp_path).record
        assert (record.result, record.fused, record.remarks) == (None, {0: 0.25}, ("a state is damaged",))
        north, south = record.clients
        assert (north.site, north.samples, north.label_counts) == ("north", 12, (12, 0))
        assert (north.rounds, north.failure) == ((), "client 0: out of memory")
        assert (south.site, south.started, south.failure) == ("south", told[1], None)
        assert (south.rounds, south.epochs) == ((ROW,), (told[-2],))
        assert [timed.event for timed in record.events] == list(told)
        writer.finish(replace(RESULT, rounds=(replace(RESULT.last, clients=(replace(ROW, accuracy=0.75),)),)))
    record = RunFolder(tmp_path).record
    assert (record.result.accuracy, record.fused) == (0.5, {0: 0.5})
    assert record.clients[1].rounds == (replace(ROW, accuracy=0.75),)
    assert (record.mean_accuracy(0), record.mean_accuracy(1)) == (0.75, None)
