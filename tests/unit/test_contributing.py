"""CONTRIBUTING.md shows the rooms and files that exist."""

import re
from configparser import ConfigParser
from pathlib import Path

import mooring

PACKAGE = Path(mooring.__file__).parent
HOME = PACKAGE.parents[1]
TEXT = (HOME / "CONTRIBUTING.md").read_text("utf-8")


def block_after(heading):
    return TEXT.partition(f"## {heading}\n")[2].partition("```text\n")[2].partition("```")[0]


def test_the_map_has_the_layers_that_the_linter_checks():
    linter = ConfigParser()
    linter.read(HOME / ".importlinter", "utf-8")
    layers = [line for line in linter["importlinter:contract:layers"]["layers"].splitlines() if line]
    checked = {room.strip() for line in layers for room in line.split("|")}
    rooms = [line[:45].split() for line in block_after("The rooms").splitlines()]
    assert {room for line in rooms for room in line} == checked


def test_every_file_of_the_flow_exists():
    named = set(re.findall(r"[a-z_]+(?:/[a-z_]+)*(?:\.py|/)(?=[\s:,;`]|$)", block_after("The flow")))
    assert len(named) > 20
    assert not [name for name in sorted(named) if not (PACKAGE / name).exists()]
