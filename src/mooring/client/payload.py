"""What leaves a client: by name, and nothing that was not asked for."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from mooring.data.images import ImageSet
from mooring.models.network import PROTOTYPES, Network

Extract = Callable[[Network, ImageSet], Mapping[str, Tensor]]


def _encoder(network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
    """Everything between an image and its embedding, batch-norm statistics included."""
    return {name: tensor for name, tensor in network.state_dict().items() if name != PROTOTYPES}


def _prototypes(network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
    return {PROTOTYPES: network.prototypes}


def _label_counts(network: Network, shard: ImageSet) -> Mapping[str, Tensor]:
    return {"label_counts": torch.tensor(shard.label_counts())}


EXTRACTS: dict[str, Extract] = {
    "encoder": _encoder,
    "prototypes": _prototypes,
    "label_counts": _label_counts,
}


def extract(needs: frozenset[str], network: Network, shard: ImageSet) -> dict[str, Tensor]:
    """Copies of the named parts of a trained client."""
    tensors: dict[str, Tensor] = {}
    for need in sorted(needs):
        parts = EXTRACTS[need](network, shard)
        tensors |= {name: tensor.detach().cpu().clone().contiguous() for name, tensor in parts.items()}
    return tensors
