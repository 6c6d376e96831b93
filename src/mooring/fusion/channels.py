"""Which tensors of a residual network speak of the same channels, and so must be reordered together."""

from dataclasses import dataclass, field

from torch import nn

from mooring.errors import FusionError
from mooring.models.backbones import Block
from mooring.models.network import PROTOTYPES, Network


@dataclass
class Channels:
    """One set of channels: reordering all its `rows` and `columns` alike does not change what the network computes."""

    incoming: list[str]  # the weights that distinguish channels
    rows: list[str]  # every tensor with one row per channel: weights, biases, batch-norm statistics
    columns: list[str] = field(default_factory=list)  # the weights that read these channels


def channels_of(network: Network) -> list[Channels]:
    """All sets, each after those that it reads.

    An identity shortcut adds a block's channels to those of its input: they are one set, matched where they begin.
    """
    names = {module: name for name, module in network.named_modules()}

    def rows(*modules: nn.Module) -> list[str]:
        return [f"{names[m]}.{key}" for m in modules for key, tensor in m.state_dict().items() if tensor.dim()]

    def weights(*modules: nn.Module) -> list[str]:
        return [name for module in modules for name in rows(module)[:1]]

    stem, norm, blocks = parts(network.encoder)
    stream = Channels(weights(stem), rows(stem, norm))
    found = [stream]
    for block in blocks:
        stream.columns += weights(block.conv1, block.shortcut)
        found.append(Channels(weights(block.conv1), rows(block.conv1, block.norm1), weights(block.conv2)))
        made = rows(block.conv2, block.norm2, block.shortcut)
        if weights(block.shortcut):
            stream = Channels(weights(block.conv2, block.shortcut), made)
            found.append(stream)
        else:
            stream.rows += made
    embedding = network.head.embedding
    if weights(embedding):
        stream.columns += weights(embedding)
        stream = Channels(weights(embedding), rows(embedding))
        found.append(stream)
    stream.columns.append(PROTOTYPES)
    return found


def parts(encoder: nn.Module) -> tuple[nn.Module, nn.Module, list[Block]]:
    """Stem, its norm, and blocks of a residual encoder."""
    match list(encoder.children()):
        case [nn.Conv2d() as stem, nn.BatchNorm2d() as norm, nn.ReLU(), *rest, nn.AdaptiveAvgPool2d(), nn.Flatten()]:
            blocks = [block for block in rest if isinstance(block, Block)]
            if len(blocks) == len(rest):
                return stem, norm, blocks
    raise FusionError(
        "the channels of this encoder cannot be followed from layer to layer",
        "choose a residual model of this house, or another fusion than ot",
    )
