"""The two READMEs say the same: headings, commands, code, links, tables and inline code, in the same order."""

import re
import shlex
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
NAMES = ("README.md", "README.zh-CN.md")
FENCE = re.compile(r"^```(?P<info>.*)\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)


def text(name):
    return (HOME / name).read_text("utf-8")


def prose(name):
    return FENCE.sub("", text(name))


def headings(name):
    return [len(marks) for marks in re.findall(r"^(#+) ", prose(name), re.MULTILINE)]


def code(name):
    """Every block; of sh blocks the commands, without comments, for these are translated."""
    found = []
    for block in FENCE.finditer(text(name)):
        lines = block["text"].splitlines()
        words = [shlex.split(line, comments=True) for line in lines] if block["info"] == "sh" else lines
        found.append((block["info"], words))
    return found


def links(name):
    """Where the links and pictures lead, but for the one to the other README."""
    found = re.findall(r"\]\(([^)\s]+)\)", prose(name))
    return [link for link in found if link not in NAMES]


def tables(name):
    """The number of cells of every table row, and the rows' figures, which no translation changes."""
    rows = [line for line in prose(name).splitlines() if line.startswith("|")]
    return [(row.count("|"), re.findall(r"\d[\d.]*|`[^`]+`", row)) for row in rows]


def sections(name):
    """Inline code by section, in whatever order the language puts it."""
    return [sorted(re.findall(r"`[^`\n]+`", part)) for part in re.split(r"^## ", prose(name), flags=re.MULTILINE)]


@pytest.mark.parametrize("what", [headings, code, links, tables, sections], ids=lambda what: what.__name__)
def test_both_readmes_have_the_same(what):
    english, chinese = (what(name) for name in NAMES)
    for i, (one, other) in enumerate(zip(english, chinese, strict=False)):
        assert one == other, f"{what.__name__} {i} differ: change README.md and README.zh-CN.md together"
    assert len(english) == len(chinese), f"one README has more {what.__name__}: change both together"


@pytest.mark.parametrize(("name", "other"), [NAMES, NAMES[::-1]])
def test_each_readme_links_to_the_other_in_its_first_lines(name, other):
    assert f"]({other})" in "".join(text(name).splitlines()[:4])
