"""How sharply a client's images determine each parameter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import functional_call, grad, vmap

from mooring.data import ImageSet
from mooring.models import Blueprint, Network
from mooring.seeds import generator
from mooring.uploads._part import Part, Tensors, UploadFacts

FISHER = "fisher."
VALUES = 2**24  # of gradients in memory at a time
BATCH = 64


@dataclass(frozen=True)
class FisherDiagonal(Part):
    """F_k = sum_x (d log p(y|x) / d theta)^2 with y ~ p(.|x) as the client's own network sees it, in eval mode.

    Two of them add up in expectation only: every client draws its own y.
    """

    kind: ClassVar[str] = "fisher-diagonal"
    trained: ClassVar[bool] = True
    sentences: ClassVar[Mapping[str, str]] = {
        FISHER: "how sharply the images determine a parameter of the network",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        parameters = {name: parameter.detach() for name, parameter in network.named_parameters()}
        buffers = dict(network.named_buffers())

        def loss(parameters: dict[str, Tensor], image: Tensor, y: Tensor) -> Tensor:
            return F.cross_entropy(functional_call(network, (parameters, buffers), (image[None],)).logits, y[None])

        gradients = vmap(grad(loss), (None, 0, 0))
        sums = {name: torch.zeros_like(parameter, dtype=torch.float64) for name, parameter in parameters.items()}
        at_once = min(BATCH, 1 + VALUES // sum(parameter.numel() for parameter in parameters.values()))
        rng = generator(0, "fisher")
        for start in range(0, len(shard), at_once):
            own = shard.images[start : start + at_once]
            images = own.contiguous(memory_format=torch.channels_last)  # vmap could not reorder them
            with torch.no_grad():
                y = torch.multinomial(network(images).logits.softmax(1), 1, generator=rng)[:, 0]
            for name, gradient in gradients(parameters, images, y).items():
                sums[name] += gradient.square().sum(0)
        return {FISHER + name: total.float() for name, total in sums.items()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        network = blueprint.build(torch.Generator())
        return {FISHER + name: parameter.detach().to("meta") for name, parameter in network.named_parameters()}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return [f"tensor {name!r} holds negative information" for name, f in tensors.items() if (f < 0).any()]
