"""Several methods and seeds in one call."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

from mooring.api._card import sweep_card
from mooring.api._figures import plot_methods
from mooring.api._paper import figure_file, table_file
from mooring.api._progress import SweepLine
from mooring.api._run_result import Run
from mooring.api._settings import Settings, experiment_tree, plain_value
from mooring.config import ALL_CODE, Plan, check_plan, full_key
from mooring.data import InMemory
from mooring.errors import needed
from mooring.events import Emit, silent
from mooring.methods import Method
from mooring.record import RunFolder, RunResult
from mooring.reports import report
from mooring.schema import Tree
from mooring.sweeps import SummaryRow, SweepOutcome, run_plan
from mooring.wording import join_some

SWEEPS = Path("sweeps")


@dataclass(frozen=True, repr=False)
class Sweep:
    """Finished runs of several methods and seeds.

    >>> import mooring
    >>> swept = mooring.sweep(["afl", "fedcgs"], seeds=range(2), clients=3, limit=100, out="sweeps/two")
    >>> swept
    Sweep(runs=4, best={'statistics only': 'afl'}, folder='sweeps/two')
    """

    path: Path
    outcome: SweepOutcome
    held: InMemory | None = field(default=None, compare=False)  # keeps images in memory

    def __repr__(self) -> str:
        failed = f", failed={len(self.failures)}" if self.failures else ""
        return f"Sweep(runs={len(self.outcome.members)}{failed}, best={self.best}, folder={str(self.path)!r})"

    def _repr_html_(self) -> str:
        return sweep_card(self)

    @cached_property
    def tracks(self) -> dict[str, list[SummaryRow]]:
        """Every combination of factors with its mean over seeds, the best first, by track.

        Methods of different tracks use different resources and are not ranked together.
        """
        found: dict[str, list[SummaryRow]] = {}
        for row in sorted(self.outcome.tables.summary, key=lambda row: -(row.mean or 0.0)):
            found.setdefault(row.track, []).append(row)
        return found

    @property
    def best(self) -> dict[str, str]:
        """Track -> the method with the highest mean accuracy."""
        return {
            track: str(rows[0].factors["method"]) for track, rows in self.tracks.items() if rows[0].mean is not None
        }

    @property
    def failures(self) -> dict[str, str]:
        """Runs without a complete result, and why."""
        return self.outcome.tables.failures

    @cached_property
    def results(self) -> dict[str, RunResult]:
        """The result of every run, by name."""
        return {run.name: run.result for run in self.outcome.tables.results if run.result is not None}

    @cached_property
    def runs(self) -> dict[str, Run]:
        """The runs that trained, by name. Methods that differ only in their fusion share the run of the first."""
        trained = (member for member in self.outcome.members if member.trains and member.result is not None)
        return {member.name: Run(RunFolder(member.folder), self.held) for member in trained}

    def to_frame(self) -> Any:
        """A pandas `DataFrame` with one row per run: its factors, metrics, bytes and status."""
        return needed("pandas", "pandas").DataFrame(self.outcome.tables.result_cells())

    def summary(self) -> Any:
        """A pandas `DataFrame` with one row per combination of factors: mean, standard deviation and n over seeds."""
        return needed("pandas", "pandas").DataFrame(self.outcome.tables.summary_cells())

    def plot(self, ax: Any = None) -> Any:
        """Draw the accuracies of all runs and return the matplotlib axes."""
        return plot_methods(self, ax)

    def report(self, format: str = "html", out: Path | str | None = None) -> Path:  # noqa: A002
        """Write the report (`html`, `latex`, `figures`, `excel`, ...) and return its path."""
        return report(self.path, format, out, ALL_CODE)

    def save_figure(self, name: str, out: Path | str) -> Path:
        """Write one figure of the report: `swept.save_figure("final-accuracy", "accuracy.pdf")`; also SVG and PNG."""
        return figure_file(self.path, name, out)

    def save_table(self, name: str, out: Path | str) -> Path:
        """Write one table of the report: `swept.save_table("results", "results.tex")`; also Markdown and CSV."""
        return table_file(self.path, name, out)


def sweep(
    methods: Sequence[str] | Mapping[str, str | Method],
    *,
    seeds: Iterable[int] = (1,),
    vary: Mapping[str, Iterable[Any]] | None = None,
    baseline: str | None = None,
    out: str | PathLike[str] | None = None,
    emit: Emit = silent,
    verbose: bool = True,
    **settings: Unpack[Settings],
) -> Sweep:
    """Run every method with every seed, and compare. Finished runs are not repeated.

    Args:
        methods: names, or a mapping from names of your own to a `mooring.Method`.
        seeds: one run of each method for each of them.
        vary: other settings with their values: `{"alpha": [0.05, 0.5]}`. Every combination is run.
        baseline: the method that the others are compared with.
        out: the folder of the sweep; by default one below `sweeps/` that is named after the plan.
        emit: is called with every event.
        verbose: show how many runs have ended, on a terminal or in a notebook.
        **settings: the keywords of `mooring.run`. `workers` is the number of runs at the same time.

    >>> import mooring
    >>> swept = mooring.sweep(["afl", "fedcgs"], seeds=range(2), clients=3, limit=100, out="sweeps/two")
    >>> len(swept.results), len(swept.runs)  # both methods share one training for each seed
    (4, 2)
    """
    workers = settings.pop("workers", None)
    tree, held = experiment_tree(None, settings)
    names, own = named_methods(methods)
    tree |= {"methods": own} if own else {}
    factors: dict[str, tuple[Any, ...]] = {"method": names}
    for key, values in (vary or {}).items():
        factors[full_key(key)] = tuple(plain_value(key, value) for value in values)
    factors["seed"] = tuple(int(seed) for seed in seeds)
    plan = Plan(factors=factors, baseline=baseline and f"method={baseline}", experiment=tree, trust=ALL_CODE)
    check_plan(plan)
    folder = Path(out) if out is not None else SWEEPS / sha256(plan.identity().encode()).hexdigest()[:8]
    with SweepLine(emit, verbose) as line:
        made = Sweep(folder, run_plan(plan, folder, workers, line), held)
    if made.failures:
        reasons = join_some([f"{name}: {reason}" for name, reason in made.failures.items()], " | ")
        warnings.warn(f"{len(made.failures)} of {len(made.outcome.members)} runs failed: {reasons}", stacklevel=2)
    return made


def named_methods(methods: Sequence[str] | Mapping[str, str | Method]) -> tuple[tuple[str, ...], Tree]:
    """The names of all methods, and the trees of those that are values."""
    if isinstance(methods, Mapping):
        own = {name: plain_value("method", method) for name, method in methods.items() if isinstance(method, Method)}
        return tuple(name if name in own else str(method) for name, method in methods.items()), own
    return tuple(methods.split(",") if isinstance(methods, str) else methods), {}
