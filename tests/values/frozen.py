"""The scalar dynamics of a weighting while both losses stand still."""

import torch

from mooring.seeds import generator
from mooring.types import ClientFacts, Losses, Progress

FACTS = ClientFacts(0, (10, 20, 30), steps=100)


def losses_of(local, align):
    """Losses with these values, whose gradients reach the prototypes."""
    prototypes = torch.ones(3, 4, requires_grad=True)
    slope = prototypes.sum() - prototypes.detach().sum()  # 0, with gradient 1 per entry
    return Losses(
        torch.tensor(float(local)) + slope, torch.tensor(float(align)) + slope, {}, torch.ones(6, 4), prototypes
    )


def settle(weighting, local, align, progress=lambda step: Progress(0, 1), steps=1500, lr=0.05, momentum=0.9):
    """Run momentum SGD on the balancer alone; the last `Balanced` and the trace of raw lambda."""
    balancer = weighting.start(FACTS, generator(0, "weighting"))
    parameters = list(balancer.parameters())
    optimizer = torch.optim.SGD(parameters, lr=balancer.rate(lr), momentum=momentum) if parameters else None
    trace = []
    balanced = None
    for step in range(steps):
        losses = losses_of(local, align)
        balanced = balancer(losses, progress(step))
        trace.append(balanced.lambda_raw.item())
        if optimizer:
            optimizer.zero_grad()
            balanced.loss(losses.local, losses.align).backward()
            optimizer.step()
    return balanced, trace
