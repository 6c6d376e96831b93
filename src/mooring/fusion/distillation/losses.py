"""What makes an image worth showing to a student (DENSE: Zhang et al. 2022; Co-Boosting: Dai et al. 2024)."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def hard_cross_entropy(scores: Tensor, labels: Tensor, hardness: float) -> Tensor:
    """mean (1 - p_y)^h (-log p_y), p = softmax(scores): h = 0 is DENSE's cross entropy, h = 1 Co-Boosting's."""
    entropy = F.cross_entropy(scores, labels, reduction="none")  # -log p_y
    difficulty = (1 - (-entropy.detach()).exp()).clamp(min=0)
    return (difficulty**hardness * entropy).mean()


def boundary_divergence(teacher: Tensor, student: Tensor) -> Tensor:
    """mean omega KL(softmax(t) || softmax(s)), omega = 1 where the two would decide differently, else 0."""
    omega = teacher.argmax(1) != student.argmax(1)
    divergence = F.kl_div(student.log_softmax(1), teacher.log_softmax(1), reduction="none", log_target=True).sum(1)
    return (omega * divergence).mean()


def statistics_gap(x: Tensor, norm: nn.BatchNorm2d) -> Tensor:
    """|mean(x) - m| + |var(x) - v|, m and v what this layer remembers of real images."""
    assert norm.running_mean is not None and norm.running_var is not None
    flat = x.permute(0, 2, 3, 1).flatten(0, 2)  # (B H W, C): three times faster than x.var on CPU
    mean = flat.mean(0)
    variance = (flat - mean).square().mean(0)
    gap: Tensor = (mean - norm.running_mean).norm() + (variance - norm.running_var).norm()
    return gap


@contextmanager
def statistics_gaps(model: nn.Module) -> Iterator[list[Tensor]]:
    """While this lasts, every pass through `model` appends the gap of each of its batch norms."""
    gaps: list[Tensor] = []

    def remember(norm: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        assert isinstance(norm, nn.BatchNorm2d)
        gaps.append(statistics_gap(inputs[0], norm))

    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    hooks = [norm.register_forward_pre_hook(remember) for norm in norms]
    try:
        yield gaps
    finally:
        for hook in hooks:
            hook.remove()


def mean_gap(gaps: list[Tensor]) -> Tensor:
    """Over all batch norms of all clients; a teacher that has none sets no such limit."""
    return torch.stack(gaps).mean() if gaps else torch.zeros(())
