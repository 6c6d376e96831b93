"""Draw the problem and the result in one picture: `python docs/make_result.py` writes docs/result.svg.

Who holds what is the partition of `mooring partition` (seed 1); the accuracies are those of the table in
docs/compare.md. The same numbers give the same bytes, and a test compares them.
"""

import re
from dataclasses import dataclass
from html import escape
from pathlib import Path

HERE = Path(__file__).parent
PICTURE, TABLE = HERE / "result.svg", HERE / "compare.md"
INK, QUIET, PAPER, RULE = "#1b1f24", "#5b6470", "#fcfcfa", "#d8d8d2"  # its own paper: for light and dark pages
BAR, OURS, CELL = "#9aa7b4", "#0072B2", (0, 114, 178)
WIDTH, HEIGHT, TOP, STEP, HEAD = 900, 366, 78, 34, 22
CELLS, SIDE = 96, 27  # where the grid begins, and a cell of it
BARS, LENGTH = 640, 190  # where 0 is, and how long 1
CHANCE = 0.1


@dataclass(frozen=True)
class Bar:
    """One row of the table."""

    track: str
    what: str
    method: str
    mean: float
    deviation: float


def bars(page: str) -> list[Bar]:
    row = re.compile(r"^\| ([^|]+) \| ([^|]+) \| `([^`]+)`[^|]* \| (\d\.\d+) ± (\d\.\d+) \|", re.MULTILINE)
    return [Bar(track, what, method, float(mean), float(std)) for track, what, method, mean, std in row.findall(page)]


def label_counts() -> tuple[tuple[int, ...], ...]:
    """Images by client and class, of the default experiment."""
    from mooring import load
    from mooring.execution import prepare

    [experiment] = load(overrides=["seed=1"])
    federation, _ = prepare(experiment)
    return federation.summary().label_counts


def text(x: float, y: float, said: str, *, size: int = 12, colour: str = INK, anchor: str = "start") -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="{anchor}">{escape(said)}</text>'


def title(x: float, said: str, below: str) -> list[str]:
    return [f'<g font-weight="bold">{text(x, 30, said, size=15)}</g>', text(x, 48, below, colour=QUIET)]


def grid(counts: tuple[tuple[int, ...], ...]) -> list[str]:
    """A row per client, a column per class, the darker the more images."""
    most = max(map(max, counts))
    drawn = title(16, "The problem: no client has all classes", "images of each digit at five clients")
    for c in range(len(counts[0])):
        drawn.append(text(CELLS + SIDE * (c + 0.5), TOP - 6, str(c), size=11, colour=QUIET, anchor="middle"))
    for client, row in enumerate(counts):
        y = TOP + STEP * client
        drawn.append(text(CELLS - 10, y + 18, f"client {client}", anchor="end"))
        for c, count in enumerate(row):
            x, share = CELLS + SIDE * c, (count / most) ** 0.5
            red, green, blue = (round(252 + (part - 252) * share) for part in CELL)
            fill = f"rgb({red},{green},{blue})"
            drawn.append(f'<rect x="{x}" y="{y}" width="{SIDE - 2}" height="{SIDE - 2}" rx="3" fill="{fill}"/>')
            if count:
                colour = PAPER if share > 0.6 else INK
                drawn.append(text(x + SIDE / 2 - 1, y + 17, str(count), size=10, colour=colour, anchor="middle"))
    return drawn


def chart(rows: list[Bar]) -> list[str]:
    """A bar per row under its track, its standard deviation as a line, chance as a dashed one."""
    below = "accuracy on 360 test images, chance dashed; compare within a track"
    drawn, y, track = title(400, "The result: one model from one upload per client", below), TOP - 10, ""
    for row in rows:
        if row.track != track:
            track, y = row.track, y + HEAD
            drawn.append(f'<g font-weight="bold">{text(400, y - 6, track, colour=QUIET)}</g>')
        end = BARS + LENGTH * row.mean
        low, high = max(0.0, row.mean - row.deviation), min(1.0, row.mean + row.deviation)
        fill = OURS if row.method == "mooring" else BAR
        drawn.append(text(BARS - 10, y + 13, row.what, anchor="end"))
        drawn.append(text(BARS - 10, y + 25, row.method, size=9, colour=QUIET, anchor="end"))
        drawn.append(f'<rect x="{BARS}" y="{y}" width="{end - BARS:.1f}" height="22" rx="3" fill="{fill}"/>')
        line = f'x1="{BARS + LENGTH * low:.1f}" x2="{BARS + LENGTH * high:.1f}" y1="{y + 11}" y2="{y + 11}"'
        drawn.append(f'<line {line} stroke="{INK}" stroke-width="2"/>')
        drawn.append(text(BARS + LENGTH + 14, y + 15, f"{row.mean:.3f}"))
        y += STEP
    x = BARS + LENGTH * CHANCE
    ends = f'x1="{x:g}" x2="{x:g}" y1="{TOP - 10}" y2="{y - 8}"'
    drawn.append(f'<line {ends} stroke="{INK}" stroke-dasharray="3 3"/>')
    return drawn


def summary(rows: list[Bar]) -> str:
    """The text alternative of the picture."""
    alone, ours = rows[-1], next(row for row in rows if row.method == "mooring")
    return f"single clients reach an accuracy of {alone.mean:.3f}, the default method {ours.mean:.3f}"


def picture(counts: tuple[tuple[int, ...], ...], rows: list[Bar]) -> str:
    foot = "1,437 handwritten digits, Dirichlet alpha 0.05 (left: seed 1)  |  mean and standard deviation, n = 3 seeds"
    drawn = [*grid(counts), *chart(rows), text(16, HEIGHT - 14, foot, size=11, colour=QUIET)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
            'font-family="system-ui, sans-serif">',
            f"<title>Five clients hold skewed shares of ten classes; {summary(rows)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="{PAPER}" stroke="{RULE}"/>',
            *drawn,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(picture(label_counts(), bars(TABLE.read_text("utf-8"))), "utf-8")
    print(PICTURE)
