"""Modules of which only the shapes are asked for."""

from collections.abc import Callable

import torch
from torch import Tensor


def shapes_only() -> bool:
    """Are tensors without numbers asked for? Nothing is computed then: torch would load its compiler to say so."""
    return torch.empty(0).is_meta


def drawn(rows: int, columns: int, draw: Callable[[], Tensor]) -> Tensor:
    """What `draw` returns, (rows, columns), if numbers are asked for."""
    return torch.empty(rows, columns) if shapes_only() else draw()
