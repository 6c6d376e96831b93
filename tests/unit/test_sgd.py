import subprocess
import sys

import pytest
import torch
from torch import nn

from mooring.client.sgd import Group, Sgd


def descended(make, steps=5):
    """Parameters after some steps down a quartic, one of them without any gradient."""
    rng = torch.Generator().manual_seed(0)
    first, second, idle = (nn.Parameter(torch.randn(size, generator=rng)) for size in ((3, 4), (5,), (2,)))
    optimizer = make([first, idle], [second])
    for _ in range(steps):
        optimizer.zero_grad()
        ((first**4).sum() + (second**4).sum()).backward()
        optimizer.step()
    return first, second, idle


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("decay", [0.0, 0.01])
def test_the_bytes_are_those_of_torch(momentum, decay):
    def torchs(network, scalars):
        groups = [{"params": network, "lr": 0.05, "weight_decay": decay}, {"params": scalars, "lr": 0.002}]
        return torch.optim.SGD(groups, momentum=momentum)

    def ours(network, scalars):
        return Sgd([Group(network, 0.05, decay), Group(scalars, 0.002)], momentum)

    assert all(map(torch.equal, descended(torchs), descended(ours)))


def test_a_step_needs_no_compiler():
    """Loading it would cost every worker a second."""
    code = (
        "import sys, torch; from torch import nn; from mooring.client.sgd import Group, Sgd;"
        "p = nn.Parameter(torch.ones(2)); s = Sgd([Group([p], .1)], .9); p.sum().backward(); s.step();"
        "assert 'torch._dynamo' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
