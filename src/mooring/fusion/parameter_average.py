"""FedAvg, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mooring.fusion.base import Fusion, Server
from mooring.fusion.merged import Merged, averaged, samples_of, states_of
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


@dataclass(frozen=True)
class ParameterAverage(Fusion):
    """theta = sum_k n_k/n theta_k (FedAvg, McMahan et al. 2017, one round).

    Batch-norm statistics are averaged like weights: the published servers keep those of one client.
    """

    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    kind: ClassVar[str] = "parameter-average"

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        return Merged(averaged(states_of(uploads, server.blueprint), samples_of(uploads)), server.blueprint)
