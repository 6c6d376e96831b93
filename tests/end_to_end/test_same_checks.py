"""A simulation says what a federation of the same sites would ask about."""

import json
from pathlib import Path

import pytest
from federated import CLASSES, write_sites
from PIL import Image, ImageOps

SITES = dict.fromkeys(("north", "south", "east", "west"), (30, 30, 30, 30))
WORDS = ("data.size=16", "data.channels=1", "encoder=none", "encoder.filters=8")


@pytest.fixture
def sites(tmp_path):
    """Four sites; the images of west are inverted."""
    root = write_sites(tmp_path / "images", SITES, side=16)
    for path in (root / "west").rglob("*.png"):
        ImageOps.invert(Image.open(path)).save(path)
    return root


def test_a_simulation_and_a_federation_by_file_ask_about_the_same_site(cli, sites):
    run = ("run", "method=mooring", "data.source=image_folder", f"data.root={sites}", *WORDS, "out=run", "--quiet")
    code, _, err = cli(*run)
    assert code == 0, err
    events = [json.loads(line) for line in Path("run/events.jsonl").read_text().splitlines()]
    [remark] = [event["text"] for event in events if event["event"] == "remark"]
    assert remark.startswith("site west: its classes lie elsewhere than those of east, north, south")
    assert remark.endswith("a federation by file would stop and ask about it")

    code, _, err = cli("plan", "--classes", ",".join(CLASSES), "--sites", ",".join(SITES), *WORDS)
    assert code == 0, err
    for site in SITES:
        code, _, err = cli(
            "train", "job.mooring", "--data", sites / site, "--site", site, "--yes", "--accept-disclosure"
        )
        assert code == 0, err
    files = [f"{site}.mooring" for site in SITES]
    code, out, err = cli("fuse-files", "job.mooring", *files)
    finding, remedy = err.strip().splitlines()
    assert (code, out) == (2, "")
    assert finding.startswith("needs review: west: its classes lie elsewhere than those of north, south, east")
    assert "estimated accuracy at 3 other sites" in finding
    assert "--keep SITE or --drop SITE" in remedy
    assert not Path("model.mooring").exists()

    code, out, err = cli("fuse-files", "job.mooring", *files, "--keep", "west")
    assert code == 0, err
    assert out.count("used") == 4
    assert "the coordinator kept it after review" in " ".join(out.split())
    code, out, err = cli("fuse-files", "job.mooring", *files, "--drop", "west", "--json")
    assert code == 0, err
    assert [row["verdict"] for row in json.loads(out)["sites"]] == ["used", "used", "used", "left out"]
    noted = [entry["words"] for entry in json.loads(cli("log", "--json")[1])["entries"] if entry["who"] == "west"]
    assert any("the coordinator kept it after review; its classes lie elsewhere" in words for words in noted)
    assert any("the coordinator dropped it; its classes lie elsewhere" in words for words in noted)
