"""Trouble with the disk: a clear line, exit code 2, and nothing lost."""

import errno
import os
import shutil
import time

import pytest
from disturbance import same, undisturbed

from mooring.record import RunWriter

SMALL = ["method=v12", "data.limit=120", "partition.clients=2", "training.rounds=3", "training.local_epochs=1"]


@pytest.fixture(scope="module")
def settings():
    """Nothing here waits for a moment of the training: it may be short."""
    return SMALL


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    return undisturbed(SMALL, tmp_path_factory.mktemp("original") / "run")


class Failing:
    """Stands in for a function of `os` and fails from the n-th call on, as a disk does."""

    def __init__(self, real, after, reason):
        self.real = real
        self.left = after
        self.reason = reason

    def __call__(self, *arguments):
        self.left -= 1
        if self.left < 0:
            raise OSError(self.reason, os.strerror(self.reason))
        return self.real(*arguments)


@pytest.mark.parametrize("seconds", [0, 60])  # 0: the disk is waited for after every file
@pytest.mark.parametrize(("after", "reason"), [(0, errno.EROFS), (9, errno.ENOSPC)])
def test_a_disk_that_is_full_or_read_only(after, reason, seconds, request, settings, tmp_path, cli):
    original, monkeypatch = map(request.getfixturevalue, ("original", "monkeypatch"))
    folder = tmp_path / "run"
    monkeypatch.setattr("mooring.record._files.UNSYNCED_SECONDS", seconds)
    with monkeypatch.context() as full:
        full.setattr(os, "fsync", Failing(os.fsync, after, reason))
        code, _, err = cli("run", *settings, "engine.workers=1", f"out={folder}")
    assert code == 2, err
    assert f"cannot be written ({os.strerror(reason)})" in err.splitlines()[-1]
    code, _, err = cli("run", *settings, "engine.workers=1", f"out={folder}")
    assert code == 0, err
    same(original, folder)


def test_a_folder_removed_under_a_run(settings, tmp_path, cli, monkeypatch):
    folder = tmp_path / "run"
    real = RunWriter.save_upload

    def removed(writer, upload):
        shutil.rmtree(folder)
        return real(writer, upload)

    with monkeypatch.context() as gone:
        gone.setattr(RunWriter, "save_upload", removed)
        code, _, err = cli("run", *settings, "engine.workers=1", f"out={folder}")
    assert code == 2
    assert f"out={folder}: was removed while the run was using it" in err
    assert not folder.exists()


def test_a_clock_that_jumps(original, settings, tmp_path, cli, monkeypatch):
    real, calls = time.time, iter(range(10**9))
    for module in ("_writer", "_events"):
        monkeypatch.setattr(f"mooring.record.{module}.time", lambda: real() + (-1) ** next(calls) * 1e8)
    code, _, err = cli("run", *settings, "engine.workers=1", f"out={tmp_path / 'run'}")
    assert code == 0, err
    same(original, tmp_path / "run")
