"""The measurements of a round, kept as tensors so that no step waits for the device."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from mooring.errors import TrainingError


@dataclass
class Ledger:
    """One row of scalars per step of an epoch."""

    client: int
    rows: list[Tensor] = field(default_factory=list)
    names: tuple[str, ...] = ()

    def add(self, values: Mapping[str, Tensor]) -> None:
        self.names = tuple(values)
        self.rows.append(torch.stack([value.detach() for value in values.values()]))

    def close(self, round_: int, first_step: int) -> dict[str, float]:
        """Means over the epoch, `last_*` for the final step; a value that is not finite stops the client."""
        table = torch.stack(self.rows)  # (steps, values)
        self.rows.clear()
        bad = (~torch.isfinite(table)).nonzero()
        if len(bad):
            step, column = bad[0].tolist()
            raise TrainingError(
                f"client {self.client}: {self.names[column]} is {table[step, column].item()} "
                f"in round {round_}, step {first_step + step}",
                "lower training.lr or the alignment weight, or set training.clip",
            )
        means = dict(zip(self.names, table.mean(0).tolist(), strict=True))
        last = {f"last_{name}": value for name, value in zip(self.names, table[-1].tolist(), strict=True)}
        return means | last
