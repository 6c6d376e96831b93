"""Figures from Python, as matplotlib axes."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mooring.errors import ConfigError, nearest, needed
from mooring.reports import PALETTE

if TYPE_CHECKING:
    from mooring.api._run_result import Run
    from mooring.api._sweep import Sweep

MOST_NAMED = 10  # clients in a legend
ACCURACY, LAMBDA = "accuracy", "lambda"


def axes_of(ax: Any) -> Any:
    return needed("matplotlib.pyplot", "report").subplots(layout="constrained")[1] if ax is None else ax


def plot_rounds(run: "Run", what: str, columns: list[str], ax: Any) -> Any:
    """One line for the fused model, or one per client."""
    valid = [ACCURACY, *columns]
    if what not in valid:
        raise ConfigError([f"plot({what!r}): unknown; {nearest(what, valid)}"])
    axes, x = axes_of(ax), np.arange(1, run.rounds + 1)
    if what == ACCURACY:
        axes.plot(x, run.accuracies, marker="o", color=PALETTE[0], label=run.method)
        axes.set_ylim(0, 1)
    else:
        values = run.effective_lambdas if what == LAMBDA else run.of_clients(what)
        rest = run.equilibrium_lambdas if what == LAMBDA else np.full_like(values, np.nan)
        for client in range(run.clients):
            shade = PALETTE[client % len(PALETTE)]
            axes.plot(x, values[:, client], marker="o", color=shade, label=run.result.site(client))
            if np.isfinite(rest[:, client]).any():
                axes.plot(x, rest[:, client], linestyle="--", color=shade, label="_nolegend_")
        if run.clients <= MOST_NAMED:
            axes.legend(frameon=False)
        known = values[np.isfinite(values)]
        if what == LAMBDA and len(known) and known.min() > 0 and known.max() > 100 * known.min():
            axes.set_yscale("log")
    axes.set_xlabel("round")
    axes.set_ylabel({LAMBDA: "effective lambda (dashed: equilibrium)"}.get(what, what.replace("_", " ")))
    axes.xaxis.get_major_locator().set_params(integer=True)
    return axes


def plot_methods(sweep: "Sweep", ax: Any) -> Any:
    """A dot for each run, and the mean and standard deviation of every combination of factors."""
    axes = axes_of(ax)
    named = [(track, row) for track, rows in sweep.tracks.items() for row in rows]
    for place, (_, row) in enumerate(named):
        seeds = [result.accuracy for result in sweep.outcome.tables.of(row)]
        shade = PALETTE[place % len(PALETTE)]
        axes.plot(seeds, [place] * len(seeds), "o", color=shade, alpha=0.35)
        if row.mean is not None:
            axes.errorbar(row.mean, place, xerr=row.std, fmt="D", color=shade, capsize=3)
    several = len(sweep.tracks) > 1
    labels = [
        ", ".join([*map(str, row.factors.values()), *([f"({track})"] if several else [])]) for track, row in named
    ]
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.set_xlabel("accuracy (dots: seeds; diamond and bar: mean and standard deviation)")
    return axes
