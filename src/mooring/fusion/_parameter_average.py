"""FedAvg, once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from mooring.fusion._base import Fusion, FusionGroup, Made, Server
from mooring.fusion._merged import Merged, averaged, samples_of
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes, state_of


@dataclass(frozen=True)
class ParameterAverage(Fusion):
    """theta = sum_k n_k/n theta_k (FedAvg, McMahan et al. 2017, one round).

    Batch-norm statistics are averaged like weights: the published servers keep the statistics of one client.
    """

    kind: ClassVar[str] = "parameter-average"
    group: ClassVar[FusionGroup] = "one network by merging parameters"
    about: ClassVar[str] = "average of all weights and buffers, by shares of the data"
    reference: ClassVar[str] = "FedAvg: McMahan et al., AISTATS 2017"
    makes: ClassVar[Made] = (Merged,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    streams: ClassVar[bool] = True

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Merged:
        names = state_of(server.blueprint)
        weighed = (({name: own.tensors[name] for name in names}, samples_of([own])[0]) for own in uploads)
        return Merged(averaged(weighed), server.blueprint)
