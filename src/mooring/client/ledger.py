"""The measurements of an epoch, kept as tensors so that no step waits for the device."""

from collections.abc import Mapping
from itertools import groupby

import torch
from torch import Tensor

from mooring.errors import TrainingError

TERM = "term "  # before the name of a loss term among the measurements

Row = tuple[tuple[str, ...], Tensor]  # names, values


class Ledger:
    """One row of scalars per step; rows of different stages have different columns."""

    def __init__(self, client: int) -> None:
        self.client = client
        self.rows: list[Row] = []

    def add(self, values: Mapping[str, Tensor]) -> None:
        device = next(iter(values.values())).device  # a lambda that follows a schedule lives on the CPU
        scalars = [value.detach().to(device) for value in values.values()]
        self.rows.append((tuple(values), torch.stack(scalars)))

    def close(self, round_: int, first_step: int) -> dict[str, float]:
        """Means over the last stage of the epoch, and `last_*` for the final step; empties the ledger."""
        means: dict[str, float] = {}
        step = first_step
        for names, rows in groupby(self.rows, key=lambda row: row[0]):
            table = torch.stack([values for _, values in rows])  # (steps, values)
            self.check(names, table, round_, step)
            step += len(table)
            last = {f"last_{name}": value for name, value in zip(names, table[-1].tolist(), strict=True)}
            means = dict(zip(names, table.mean(0).tolist(), strict=True)) | last
        self.rows.clear()
        return means

    def check(self, names: tuple[str, ...], table: Tensor, round_: int, first_step: int) -> None:
        """A value that is not finite stops the client, by name."""
        bad = (~torch.isfinite(table)).nonzero()
        if len(bad):
            step, column = bad[0].tolist()
            raise TrainingError(
                f"client {self.client}: {names[column].removeprefix(TERM)} is {table[step, column].item()} "
                f"in round {round_}, step {first_step + step}",
                "lower training.lr or the alignment weight, or set training.clip",
            )
