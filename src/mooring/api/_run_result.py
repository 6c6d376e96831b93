"""What `mooring.run` returns: the record of a run as arrays, tables and figures."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mooring.api._card import run_card
from mooring.api._figures import plot_rounds
from mooring.api._paper import figure_file, table_file
from mooring.config import ALL_CODE, load_fusions
from mooring.data import InMemory
from mooring.errors import needed
from mooring.events import ClientRecord
from mooring.execution import fuse
from mooring.federation import ModelFile, load_model
from mooring.intervals import wilson
from mooring.record import MODEL_FILE, FusionRecord, Metrics, RunFolder, RunRecord, RunResult
from mooring.reports import report

Floats = NDArray[np.float64]
COLUMNS: dict[str, Callable[[ClientRecord], Any]] = {  # of a frame: one row per round and client
    "lambda": lambda row: row.lambda_raw,
    "effective_lambda": lambda row: row.lambda_felt,
    "equilibrium_lambda": lambda row: row.lambda_star,
    "base_loss": lambda row: row.base_loss,
    "align_loss": lambda row: row.align_loss,
    "train_accuracy": lambda row: row.train_accuracy,
    "gradient_norm": lambda row: row.gradient_norm,
    "local_accuracy": lambda row: row.accuracy,
    "steps": lambda row: row.steps,
    "seconds": lambda row: row.seconds,
}


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run. Arrays have one row per round and one column per client; NaN where nothing was measured.

    >>> import mooring
    >>> result = mooring.load_run("runs/v12")
    >>> result.lambdas.shape == (len(result.record.fused), result.clients)
    True
    """

    folder: RunFolder
    held: InMemory | None = field(default=None, compare=False)  # keeps images in memory for `fuse`

    def __repr__(self) -> str:
        facts = f"method={self.method!r}, accuracy={self.accuracy:.3f}, data={self.result.dataset!r}"
        return f"Run({facts}, clients={self.clients}, rounds={self.rounds}, seed={self.result.seeds.training})"

    def _repr_html_(self) -> str:
        return run_card(self)

    @property
    def path(self) -> Path:
        """The run folder."""
        return self.folder.path

    @property
    def result(self) -> RunResult:
        """All that `result.json` says."""
        return self.folder.result

    @property
    def record(self) -> RunRecord:
        """Events and result, put together by client."""
        return self.folder.record

    @property
    def method(self) -> str:
        return self.result.method

    @property
    def accuracy(self) -> float:
        """Of the fused model after the last round, on the test images."""
        return self.result.accuracy

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the accuracy, by Wilson."""
        images = self.result.test_images
        return wilson(round(self.accuracy * images), images) if images else None

    @property
    def metrics(self) -> Metrics:
        return self.result.metrics

    @property
    def clients(self) -> int:
        return self.result.clients

    @cached_property
    def rounds(self) -> int:
        """How many were trained."""
        trained = {row.round for row in self.record.rounds} | set(self.record.fused)
        return max(trained) + 1

    @property
    def accuracies(self) -> Floats:
        """Of the fused model, (rounds,)."""
        found = np.full(self.rounds, np.nan)
        for round_, accuracy in self.record.fused.items():
            found[round_] = accuracy
        return found

    @property
    def local_accuracies(self) -> Floats:
        """Of every client's own model, (rounds, clients); the last round, unless `evaluate.clients=all`."""
        return self.of_clients("local_accuracy")

    @property
    def lambdas(self) -> Floats:
        """Lambda as the rule has it, before a schedule or guard, (rounds, clients)."""
        return self.of_clients("lambda")

    @property
    def effective_lambdas(self) -> Floats:
        """Lambda as it acted on the weights, (rounds, clients)."""
        return self.of_clients("effective_lambda")

    @property
    def equilibrium_lambdas(self) -> Floats:
        """The effective lambda at which the rule would come to rest, (rounds, clients)."""
        return self.of_clients("equilibrium_lambda")

    def of_clients(self, column: str) -> Floats:
        """A column of `to_frame`, (rounds, clients)."""
        found = np.full((self.rounds, self.clients), np.nan)
        for row in self.record.rounds:
            value = COLUMNS[column](row)
            found[row.round, row.client] = np.nan if value is None else value
        return found

    def to_frame(self) -> Any:
        """A pandas `DataFrame` with one row per round and client. Rounds are counted from 1."""
        rows = [
            {
                "round": row.round + 1,
                "client": client.client,
                "site": client.site,
                "images": client.samples,
                "accuracy": self.record.fused.get(row.round),
                **{name: value(row) for name, value in COLUMNS.items()},
            }
            for client in self.record.clients
            for row in client.rounds
        ]
        frame = needed("pandas", "pandas").DataFrame(rows)
        return frame.sort_values(["round", "client"], ignore_index=True) if rows else frame

    def plot(self, what: str = "accuracy", ax: Any = None) -> Any:
        """Draw a quantity over the rounds and return the matplotlib axes.

        `what`: `accuracy` of the fused model, `lambda` (effective, with the equilibrium dashed), or a column of
        `to_frame`.
        """
        return plot_rounds(self, what, list(COLUMNS), ax)

    def report(self, format: str = "html", out: Path | str | None = None) -> Path:  # noqa: A002
        """Write the report (`html`, `latex`, `figures`, `excel`, ...) and return its path."""
        return report(self.path, format, out, ALL_CODE)

    def save_figure(self, name: str, out: Path | str) -> Path:
        """Write one figure of the report: `result.save_figure("lambda", "lambda.pdf")`; also SVG and PNG."""
        return figure_file(self.path, name, out)

    def save_table(self, name: str, out: Path | str) -> Path:
        """Write one table of the report: `result.save_table("results", "results.tex")`; also Markdown and CSV."""
        return table_file(self.path, name, out)

    def fuse(self, fusions: str) -> list[FusionRecord]:
        """Fuse the same uploads by other rules, without training again: `result.fuse("class-expert,iffi")`."""
        return list(fuse(self.path, load_fusions(fusions), trust=ALL_CODE))

    def load_model(self) -> ModelFile:
        """The fused model, ready to predict."""
        return load_model(self.path / MODEL_FILE, trust=ALL_CODE)
