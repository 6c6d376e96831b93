"""OTFusion: channels are matched before they are averaged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from mooring.errors import FusionError
from mooring.fusion.base import Fusion, FusionGroup, Made, Server, ServerCost
from mooring.fusion.channels import Channels, channels_of
from mooring.fusion.merged import Merged, StateDict, averaged, samples_of, states_of
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


@dataclass(frozen=True)
class OptimalTransport(Fusion):
    """Average by data shares, after moving every client's channels to those of the reference they resemble most.

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
