"""A result that was made here knows everything about its run; an imported one knows what its log tells."""

from pathlib import Path

import pytest

from mooring.errors import StoreError
from mooring.notes._imports import import_log
from mooring.record import ImportedResult, Result, RunFolder

LOG = """OneshotOursV7: fixed lambda
Round 0 starts--------|
Client 0 Starts Local Trainning--------|
Epoch 0 loss: 2.0; train accuracy: 0.5; test accuracy: 0.4
The test accuracy of OursV7: 0.5
"""


def test_a_folder_gives_the_type_of_result_that_it_holds(v12_run, tmp_path):
    (tmp_path / "old.log").write_text(LOG)
    [(folder, written)] = import_log(tmp_path / "old.log", tmp_path / "run")
    imported, own = RunFolder(Path(folder)), RunFolder(v12_run)
    assert type(imported.result) is ImportedResult
    assert imported.result == written
    assert type(own.result) is Result
    assert own.own_result is own.result


def test_an_imported_run_has_no_result_of_its_own(tmp_path):
    (tmp_path / "old.log").write_text(LOG)
    [(folder, _)] = import_log(tmp_path / "old.log", tmp_path / "run")
    with pytest.raises(StoreError, match=r"was imported from old\.log, not run here"):
        RunFolder(folder).own_result  # noqa: B018
