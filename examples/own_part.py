"""A loss of your own, in a method of your own, compared with the method it changes."""

from dataclasses import dataclass, replace
from typing import ClassVar

import mooring


@dataclass(frozen=True)
class Hesitation:
    """weight * mean entropy of the soft-max: a client pays for indecision."""

    kind: ClassVar[str] = "hesitation"
    weight: float = 0.1

    def __call__(self, step):
        logits = step.views[0].logits  # (B, C)
        return -self.weight * (logits.softmax(1) * logits.log_softmax(1)).sum(1).mean()


if __name__ == "__main__":
    v4 = mooring.METHODS["v4"]
    decided = replace(v4, client=replace(v4.client, terms=(*v4.client.terms, Hesitation(0.3))))
    methods = {"v4": "v4", "decided": decided}
    print(mooring.sweep(methods, seeds=range(2), rounds=2, local_epochs=1, limit=300, out="sweeps/own_part").summary())
