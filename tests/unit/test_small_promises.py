"""Small promises: messages and files in moments that seldom come."""

from pathlib import Path

import pytest

from mooring import load
from mooring.errors import StoreError
from mooring.federation._answers import Decision, in_order
from mooring.record import RunFolder, open_run_folder, write_atomically


def test_a_configuration_file_may_be_named_by_a_string(tmp_path):
    (tmp_path / "my.yaml").write_text("method: v4\n", "utf-8")
    assert load(str(tmp_path / "my.yaml")) == load(tmp_path / "my.yaml")


def test_a_read_only_file_system_is_one_line(tmp_path, monkeypatch):
    """Removing the draft fails there too."""

    def read_only(*_, **__):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(StoreError, match=r"report\.html: cannot be written \(Read-only file system\)"):
        write_atomically(tmp_path / "report.html", b"")


def test_what_a_kill_in_the_first_moments_leaves_stops_no_later_run(tmp_path):
    (tmp_path / ".experiment.yaml.4711").write_text("method")
    with pytest.raises(StoreError, match="killed before it began; start it again with mooring run"):
        _ = RunFolder(tmp_path).experiment_file
    with open_run_folder(tmp_path, "method: v4\n"):
        pass
    assert not list(tmp_path.glob(".experiment*"))


def test_a_broken_file_and_its_site_are_told_apart_from_a_missing_one():
    class Job:
        site_names = ("north", "south")

    rows = in_order(Job(), [Decision("north.mooring", "set aside", "is cut off")])
    assert [(row.site, row.reason) for row in rows][:2] == [
        ("north", "no file but north.mooring, which was set aside"),
        ("south", "no file"),
    ]
