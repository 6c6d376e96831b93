"""Runs and sweeps as small HTML cards for notebooks."""

from collections.abc import Sequence
from html import escape
from math import isfinite
from typing import TYPE_CHECKING

from mooring.sweeps import SummaryRow
from mooring.wording import accuracy_text, percent, plural, setting

if TYPE_CHECKING:
    from mooring.api._run_result import Run
    from mooring.api._sweep import Sweep

BOX = "border:1px solid #8884;border-radius:6px;padding:.6em .9em;display:inline-block;font-size:90%"
WIDTH, HEIGHT = 150, 32  # of the small chart


def run_card(run: "Run") -> str:
    """Accuracy with its interval, what it is compared with, and the accuracy over the rounds."""
    result = run.result
    local, majority = result.last.accuracy_alone, result.metrics.guess
    facts = {
        "accuracy": accuracy_text(run.accuracy, result.test_images),
        "local-only": percent(local),
        "majority class": percent(majority),
        "data": f"{result.dataset}, {plural(run.clients, 'client')}, seed {result.seeds.training}",
        "folder": str(run.path),
    }
    rows = "".join(
        f"<tr><th style='text-align:left'>{name}</th><td>{escape(text)}</td></tr>" for name, text in facts.items()
    )
    chart = line_chart([float(value) for value in run.accuracies])
    return f"<div style='{BOX}'><b>{escape(run.method)}</b><table>{rows}</table>{chart}</div>"


def line_chart(values: Sequence[float]) -> str:
    """Accuracies from 0 to 1, from left to right; nothing for a single round."""
    points = [(i, value) for i, value in enumerate(values) if isfinite(value)]
    if len(points) < 2:
        return ""
    step = WIDTH / (len(values) - 1)
    path = " ".join(f"{i * step:.1f},{HEIGHT - value * HEIGHT:.1f}" for i, value in points)
    title = f"accuracy over {len(values)} rounds, from {percent(points[0][1])} to {percent(points[-1][1])}"
    return (
        f"<svg role='img' width='{WIDTH + 6}' height='{HEIGHT + 6}' viewBox='-3 -3 {WIDTH + 6} {HEIGHT + 6}'>"
        f"<title>{escape(title)}</title>"
        f"<polyline points='{path}' fill='none' stroke='#0072B2' stroke-width='2'/></svg>"
    )


def sweep_card(sweep: "Sweep") -> str:
    """Mean and standard deviation of every combination, track by track, the best first."""
    tables = "".join(track_table(track, rows) for track, rows in sweep.tracks.items())
    failed = len(sweep.failures)
    note = f"<div>{plural(failed, 'run')} without a result</div>" if failed else ""
    return (
        f"<div style='{BOX}'><b>{plural(len(sweep.outcome.members), 'run')}</b>"
        f"{tables}{note}<div>{escape(str(sweep.path))}</div></div>"
    )


def track_table(track: str, rows: Sequence[SummaryRow]) -> str:
    keys = list(rows[0].factors)
    head = "".join(f"<th>{escape(name)}</th>" for name in (*keys, "accuracy", "sd", "n"))
    body = "".join(
        "<tr>"
        + "".join(f"<td>{escape(setting(row.factors[key]))}</td>" for key in keys)
        + f"<td>{percent(row.mean)}</td><td>{percent(row.std)}</td><td>{row.n}</td></tr>"
        for row in rows
    )
    return f"<table><caption style='text-align:left'>{escape(track)}</caption><tr>{head}</tr>{body}</table>"
