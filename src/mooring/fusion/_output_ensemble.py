"""The average of the clients' soft-max outputs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from mooring.fusion._base import Fusion, FusionGroup, Made, Server
from mooring.fusion._ensemble import Ensemble, Members
from mooring.types import Upload
from mooring.uploads import Encoder, Parts, Prototypes


class OutputEnsemblePredictor(Ensemble):
    kind: ClassVar[str] = "output-ensemble"

    def combine(self, embeddings: Iterable[Tensor]) -> Tensor:
        members = zip(self.shares, self.networks(), embeddings, strict=True)
        outputs = [share.log() + network.view(f).logits.log_softmax(1) for share, network, f in members]
        return torch.stack(outputs).logsumexp(0)


@dataclass(frozen=True)
class OutputEnsemble(Fusion):
    """score(x) = log sum_k n_k/n softmax(logits_k(x)): the soft-max of the scores is the mixture of all clients."""

    kind: ClassVar[str] = "output-ensemble"
    group: ClassVar[FusionGroup] = "ensembles: every prediction runs all clients' encoders"
    about: ClassVar[str] = "average of the clients' soft-max outputs, weighed by their shares of the data"
    reference: ClassVar[str] = "Guha et al. 2019"
    makes: ClassVar[Made] = (OutputEnsemblePredictor,)
    needs: ClassVar[Parts] = frozenset({Encoder(), Prototypes()})
    streams: ClassVar[bool] = True

    def __call__(self, uploads: Sequence[Upload], server: Server) -> Ensemble:
        return OutputEnsemblePredictor(Members.of(uploads, server.blueprint))
