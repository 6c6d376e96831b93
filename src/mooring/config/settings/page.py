"""The tables of docs/configuration.md: each stands under a comment that names its sections.

    python -m mooring.config.settings.page docs/configuration.md

writes them anew after a key, a default or a sentence has changed; a test asks for it.
"""

import re
import sys
from pathlib import Path

from mooring.config.part_kinds import PART_KINDS
from mooring.config.settings.index import BELOW, SECTIONS, Setting, of_section
from mooring.config.settings.of_runs import OF_METHOD
from mooring.config.settings.section import OfKinds

MARKED = re.compile(r"<!-- settings: (?P<names>[a-z, ]+) -->\n\n(?:\|[^\n]*\n)*")
WORDS = (BELOW, OF_METHOD, "required")  # defaults that are no values


def with_tables(text: str) -> str:
    """The page with every table as it must be."""
    return MARKED.sub(
        lambda found: f"<!-- settings: {found['names']} -->\n\n{settings_table(found['names'].split(', '))}", text
    )


def settings_table(names: list[str]) -> str:
    sections = [section for name in names for section in SECTIONS if section.name == name]
    keys = {PART_KINDS[section.family].key for section in sections if isinstance(section, OfKinds)}
    heading = [*keys, "key", "default", "range", "meaning"]
    rows = [row(setting, *keys) for section in sections for setting in of_section(section)]
    lines = [heading, ["---"] * len(heading), *rows]
    return "".join(f"| {' | '.join(line)} |\n".replace("| --- |", "|---|").replace(" --- |", "---|") for line in lines)


def row(setting: Setting, kind: str = "") -> list[str]:
    """Keys of a kind by their own name, all others as they are written."""
    whose = [", ".join(f"`{one}`" for one in setting.kinds) or f"every {kind}"] if kind else []
    key = setting.name if kind else setting.keys[0]
    default = setting.default if setting.default in WORDS else f"`{setting.default}`"
    return [*whose, f"`{key}`", default, setting.range, setting.meaning]


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(with_tables(page.read_text("utf-8")), "utf-8")
