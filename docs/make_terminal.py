"""Record two commands as a picture of a terminal: `python docs/make_terminal.py` writes docs/terminal.svg.

The commands run for real, in a temporary folder. Lines that change from run to run (progress, seconds, folders) are
left out, so the same code gives the same bytes; a test compares the quick command.
"""

import os
import re
import subprocess
import sys
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

PICTURE = Path(__file__).parent / "terminal.svg"
COMMANDS = ("mooring partition", "mooring run method=mooring")
COLUMNS, SIZE, LINE, MARGIN = 80, 14, 19, 18
PAPER, INK, PROMPT = "#1e2430", "#dfe4ea", "#7fc8a9"
PASSING = re.compile(r"prepare .* s,|run folder:|next: |^\S+: \d+%|clients with|fused: accuracy")


def output(command: str, folder: str) -> list[str]:
    """What the command prints, without lines that change."""
    words = [str(Path(sys.executable).with_name("mooring")), *command.split()[1:]]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "NO_COLOR": "1"}
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    lines = [line.rstrip() for line in (ran.stderr + ran.stdout).splitlines()]
    kept = [line for line in lines if not PASSING.search(line)]
    return [row for line in kept for row in (wrap(line, COLUMNS) if len(line) > COLUMNS else [line])]


def picture(shown: list[tuple[str, list[str]]]) -> str:
    rows: list[str] = []
    y = MARGIN + SIZE
    for command, lines in shown:
        for at, line in enumerate([f"$ {command}", *lines, ""]):
            colour = PROMPT if at == 0 else INK
            rows.append(f'<text x="{MARGIN}" y="{y}" fill="{colour}" xml:space="preserve">{escape(line)}</text>')
            y += LINE
    width, height = round(2 * MARGIN + COLUMNS * SIZE * 0.602), y - LINE
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img" '
            f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="{SIZE}">',
            f"<title>Terminal: {escape('; '.join(command for command, _ in shown))}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>',
            *rows,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        shown = [(command, output(command, folder)) for command in COMMANDS]
    PICTURE.write_text(picture(shown), "utf-8")
    print(PICTURE)
