"""What every layer of a client's network is fed with, as second moments."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from mooring.data import ImageSet, batches
from mooring.models import PROTOTYPES, Blueprint, Network, PrototypeHead
from mooring.uploads._moments import pack_triangle, side, triangle_size, unpack_triangle
from mooring.uploads._part import AddsUp, Tensors, UploadFacts, added

GRAM = "gram."
BATCH = 64
ROUNDING = 1e-3  # what float32 sums may be off

GramLayer = nn.Conv2d | nn.Linear


@dataclass(frozen=True)
class Grams(AddsUp):
    """G = sum_x x x^T, x all that a weight matrix is multiplied with: image patches, features, embeddings.

    One for every convolution, every linear layer and the prototypes, as upper triangles. Their bytes grow with the
    square of the layers' widths: four times the model itself for a digits net and for a ResNet-18.
    """

    kind: ClassVar[str] = "grams"
    trained: ClassVar[bool] = True
    sentences: ClassVar[Mapping[str, str]] = {
        GRAM: "what a layer of the network was fed with, as a sum of products over all images",
    }

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        sums = {name: torch.zeros(width, width, dtype=torch.float64) for name, width in widths(network).items()}

        def adding_to(total: Tensor) -> Callable[[nn.Module, tuple[Tensor]], None]:
            def add(layer: nn.Module, inputs: tuple[Tensor]) -> None:
                x = rows(layer, inputs[0])
                total.add_(x.T @ x)

            return add

        hooks = [layer.register_forward_pre_hook(adding_to(sums[name])) for name, layer in layers(network).items()]
        try:
            with torch.no_grad():
                for images in batches(shard.images, BATCH):
                    x = prototype_inputs(network.head, network.embed(images))
                    sums[PROTOTYPES] += x.T @ x
        finally:
            for hook in hooks:
                hook.remove()
        return {GRAM + name: pack_triangle(total).float() for name, total in sums.items()}

    def expected(self, blueprint: Blueprint) -> Tensors:
        network = blueprint.build(torch.Generator())
        return {GRAM + name: torch.empty(triangle_size(w), device="meta") for name, w in widths(network).items()}

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        return [f"tensor {name!r} is not a sum of squares" for name, packed in tensors.items() if not possible(packed)]

    def add(self, a: Tensors, b: Tensors) -> Tensors:
        return added(a, b)


def layers(network: Network) -> dict[str, GramLayer]:
    """Every layer whose weights are one matrix, by the name of its weights."""
    modules = network.named_modules()
    found = {f"{name}.weight": layer for name, layer in modules if isinstance(layer, nn.Conv2d | nn.Linear)}
    return {name: layer for name, layer in found.items() if not isinstance(layer, nn.Conv2d) or layer.groups == 1}


def widths(network: Network) -> dict[str, int]:
    """How many numbers each weight matrix is multiplied with, prototypes included."""
    return {name: layer.weight[0].numel() for name, layer in layers(network).items()} | {
        PROTOTYPES: network.prototypes.shape[1]
    }


def rows(layer: nn.Module, inputs: Tensor) -> Tensor:
    """x, one per row: patches of a convolution, features of a linear layer."""
    if isinstance(layer, nn.Conv2d):
        assert not isinstance(layer.padding, str), "our convolutions pad by numbers"
        patches = F.unfold(inputs, layer.kernel_size, layer.dilation, layer.padding, layer.stride)  # (B, width, L)
        return patches.transpose(1, 2).flatten(0, 1)
    return inputs


def prototype_inputs(head: PrototypeHead, embedding: Tensor) -> Tensor:
    """x, (B, d), of logits = x P^T + b: f or f/|f|, and its scale.

    The head is asked, not its kind: x_i is what a prototype e_i adds to the logit of a zero prototype.
    """
    probe, unit = deepcopy(head), F.normalize(embedding)
    classes, d = head.prototypes.shape
    probe.prototypes = nn.Parameter(torch.zeros_like(head.prototypes), requires_grad=False)
    zero = probe.logits(embedding, unit)
    columns = []
    for basis in torch.eye(d).split(classes):
        probe.prototypes[: len(basis)] = basis
        columns.append((probe.logits(embedding, unit) - zero)[:, : len(basis)])
    return torch.cat(columns, dim=1)


def possible(packed: Tensor) -> bool:
    """Can this be a sum of x x^T? Then no |G_ij| exceeds sqrt(G_ii G_jj)."""
    gram = unpack_triangle(packed, side(packed)).double()
    largest = gram.diagonal().clamp(min=0).sqrt()
    bounded = gram.abs() <= torch.outer(largest, largest) * (1 + ROUNDING)
    return bool((gram.diagonal() >= 0).all() and bounded.all())
