"""Symmetric matrices travel as their upper triangle, row by row: half the bytes."""

from functools import lru_cache
from math import isqrt

import torch
from torch import Tensor


def pack(matrix: Tensor) -> Tensor:
    """(..., d, d), symmetric -> (..., d (d+1)/2)"""
    rows, columns = indices(matrix.shape[-1])
    return matrix[..., rows, columns]


def unpack(packed: Tensor, d: int) -> Tensor:
    """(..., d (d+1)/2) -> (..., d, d)"""
    rows, columns = indices(d)
    matrix = packed.new_zeros(*packed.shape[:-1], d, d)
    matrix[..., rows, columns] = packed
    matrix[..., columns, rows] = packed
    return matrix


def diagonal(packed: Tensor, d: int) -> Tensor:
    """(..., d (d+1)/2) -> (..., d)"""
    rows, columns = indices(d)
    return packed[..., rows == columns]


def packed_size(d: int) -> int:
    return d * (d + 1) // 2


def side(packed: Tensor) -> int:
    """d, of (..., d (d+1)/2)"""
    return (isqrt(8 * packed.shape[-1] + 1) - 1) // 2


@lru_cache(maxsize=2)  # a client packs one matrix for every batch
def indices(d: int) -> tuple[Tensor, Tensor]:
    rows, columns = torch.triu_indices(d, d)
    return rows, columns
