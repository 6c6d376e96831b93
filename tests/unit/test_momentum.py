"""The optimizer that is written out makes the numbers of torch's, to the bit."""

import pytest
import torch
from torch.nn import Parameter

from mooring.client._state import Group, Momentum
from mooring.seeds import generator


def parameters():
    rng = generator(1, "parameters")
    return [Parameter(torch.randn(shape, generator=rng)) for shape in ((5, 3), (7,), (), (2, 2, 3, 3))]


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 5e-4])
def test_it_is_torchs(momentum, decay):
    ours, theirs = parameters(), parameters()
    mine = Momentum([Group(ours[:2], 0.1, decay), Group(ours[2:], 0.01)], momentum)
    oracle = torch.optim.SGD(
        [{"params": theirs[:2], "lr": 0.1, "weight_decay": decay}, {"params": theirs[2:], "lr": 0.01}],
        lr=1.0,
        momentum=momentum,
    )
    rng = generator(2, "gradients")
    for step in range(6):
        mine.zero_grad()
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            absent = i == 1 and step in (0, 3)  # a parameter that a stage leaves alone
            gradient = torch.randn(a.shape, generator=rng)
            a.grad, b.grad = (None, None) if absent else (gradient.clone(), gradient.clone())
        for group, other in zip(mine.groups, oracle.param_groups, strict=True):
            group.rate = group.lr * (1 - step / 10)
            other["lr"] = group.rate
        mine.step()
        oracle.step()
    assert all(torch.equal(a, b) for a, b in zip(ours, theirs, strict=True))
