"""OTFusion: channels are matched before they are averaged."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from mooring.errors import FusionError
from mooring.fusion._base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion._merged import Merged, StateDict, averaged, samples_of, states_of
from mooring.models import PROTOTYPES, Block, Network
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


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


@dataclass(frozen=True)
class OptimalTransport(Fusion):
    """Average by data shares, after every client's channels are matched to the channels of a reference client.

    Layer by layer, T = argmin <T, C> over couplings with uniform marginals, C_ij = |w_i - w_kj|^2 between the incoming
    weights of channels, the layers before already in order (OTFusion, Singh & Jaggi 2020, exact transport of weights).
    All networks are equally wide, so T is a reordering. Reference: the client with most samples, the first of equals.
    Deviation: channels joined by identity shortcuts move as one; projections and the block's last layer are compared
    together.
    """

    kind: ClassVar[str] = "ot"
    group: ClassVar[FusionGroup] = "one network by merging parameters"
    about: ClassVar[str] = "channels of all clients matched by optimal transport, then averaged"
    reference: ClassVar[str] = "OTFusion: Singh, Jaggi, NeurIPS 2020"
    cost: ClassVar[ServerCost] = "seconds"
    makes: ClassVar[Made] = (Merged,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        channels = channels_of(server.blueprint.build(torch.Generator()))
        states = states_of(uploads, server.blueprint)
        largest = max(upload.samples for upload in uploads)
        reference = next(state for state, upload in zip(states, uploads, strict=True) if upload.samples == largest)
        moved = [aligned(state, reference, channels) for state in states]
        return Merged(averaged(zip(moved, samples_of(uploads), strict=True)), server.blueprint)


def aligned(state: StateDict, reference: StateDict, channels: Sequence[Channels]) -> StateDict:
    """The same function with its channels in the order of the reference."""
    state = dict(state)
    for group in channels:
        mine, theirs = (torch.cat([s[n].flatten(1) for n in group.incoming], 1).double() for s in (reference, state))
        order = assignment(torch.cdist(mine, theirs, compute_mode="donot_use_mm_for_euclid_dist").square())
        state |= {name: state[name][order] for name in group.rows}
        state |= {name: state[name][:, order] for name in group.columns}
    return state


def assignment(cost: Tensor) -> Tensor:
    """For every row its column, by exact optimal transport between uniform marginals."""
    try:
        import ot
    except ImportError:
        raise FusionError("fusion=ot: needs the package POT", "pip install 'mooring[ot]'") from None
    plan: np.ndarray = ot.emd([], [], cost.numpy(), numItermax=10_000_000)
    return torch.from_numpy(plan.argmax(1))
