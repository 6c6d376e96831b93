"""Small promises: messages and files in moments that seldom come."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mooring import load, load_fusions
from mooring.cli import live
from mooring.cli.data import between_words
from mooring.cli.progress import RunProgress, site_progress
from mooring.errors import ConfigError, StoreError
from mooring.events import ClientProgress
from mooring.federation._answers import Decision, in_order
from mooring.record import RunFolder, open_run_folder, write_atomically
from mooring.schema import digest

HOME = Path(__file__).parents[2]


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


def test_ctrl_c_in_the_middle_of_an_import_is_one_line():
    code = (
        "import signal, sys, mooring.__main__ as m\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'typer': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "m.program()\n"
    )

    def heard():
        signal.signal(signal.SIGINT, signal.default_int_handler)

    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, preexec_fn=heard)
    assert (ended.returncode, ended.stderr) == (130, "interrupted\n")


def test_progress_within_a_client_counts_images(capsys, monkeypatch):
    monkeypatch.setattr(live, "FIRST", 0.0)
    monkeypatch.setattr(live, "BETWEEN", 0.0)
    with site_progress("north", False, "image") as show:
        show(ClientProgress(0, 0, 0, 4000))
        show(ClientProgress(0, 0, 1240, 4000))
    assert "north: 31%, 1,240 of 4,000 images" in capsys.readouterr().err
    rows = []
    display = live.Display()
    display.add = lambda row: rows.append(row) or row
    progress = RunProgress(load(overrides=["method=mooring"])[0], display)
    progress.trained.clients = 2
    progress(ClientProgress(1, 0, 41, 80))
    assert [row.text for row in rows] == ["0/2 clients", "41 of 80 images"]


def test_a_result_without_its_classes_is_one_line(tmp_path):
    tree = json.loads((HOME / "tests/golden/folders/mooring/result.json").read_text("utf-8"))
    del tree["classes"], tree["sha256"]
    (tmp_path / "result.json").write_text(json.dumps({**tree, "sha256": digest(tree)}), "utf-8")
    with pytest.raises(StoreError, match="names 0 classes and counts 10"):
        _ = RunFolder(tmp_path).result


def test_a_rule_named_as_a_setting_is_one_line():
    with pytest.raises(ConfigError, match="name the rule with --fusion iffi"):
        load_fusions("all", ["fusion=iffi"])


def test_names_break_between_words():
    assert between_words("squamous_cell_carcinoma", 14) == "squamous_cell_\ncarcinoma"
    assert between_words("cat", 14) == "cat"


def test_partition_mentions_the_images_held_out(cli, tmp_path):
    from federated import write_sites

    root = write_sites(tmp_path / "sites", {"north": (5, 5, 5, 5)}, side=16)
    code, out, err = cli("partition", "data=image_folder", f"data.root={root}", "partition.clients=2", "partition=iid")
    assert code == 0, err
    assert "20% of every class, for testing" in out


def test_every_package_for_sites_has_a_hash_and_the_version_that_is_tested():
    lines = (HOME / "supply/requirements-sites.txt").read_text("utf-8").splitlines()
    rows = [re.fullmatch(r"([a-z0-9-]+)==(\S+) --hash=sha256:[0-9a-f]{64}", line) for line in lines if line[:1] != "#"]
    assert len(rows) > 30
    assert all(rows)
    pins = (HOME / "constraints.txt").read_text("utf-8").lower().replace("_", "-").splitlines()
    known = dict(line.split("==") for line in pins if "==" in line and not line.startswith("#"))
    assert {row[1]: row[2] for row in rows if known.get(row[1], row[2]) != row[2]} == {}


def test_the_sbom_names_mooring_and_every_package(tmp_path):
    subprocess.run([sys.executable, HOME / "supply/sbom.py", tmp_path / "sbom.json"], check=True, capture_output=True)
    tree = json.loads((tmp_path / "sbom.json").read_text("utf-8"))
    assert (tree["bomFormat"], tree["metadata"]["component"]["name"]) == ("CycloneDX", "mooring")
    assert {"torch", "numpy", "safetensors"} <= {own["name"] for own in tree["components"]}
