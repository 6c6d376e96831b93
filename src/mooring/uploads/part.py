"""The shape of a part of an upload."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor

from mooring.data.images import ImageSet
from mooring.errors import UploadError
from mooring.models.network import Blueprint, Network
from mooring.trees import digest, non_default, to_tree

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class UploadFacts:
    """What an upload says of itself beside its tensors."""

    samples: int  # images behind it


class Part(Protocol):
    """A frozen value: what a client computes from its trained network and its own images, the same in every process.

    `kind` is its name on the wire, for ever: a part that computes something else, or whose defaults change, is another
    kind.

    >>> from mooring.data.digits import Digits
    >>> from mooring.uploads import LabelCounts
    >>> LabelCounts()(None, Digits().test())["label_counts"].sum().item()
    360
    """

    kind: ClassVar[str]
    trained: ClassVar[bool]  # does it depend on the trained network, or on the images alone?

    def __call__(self, network: Network, shard: ImageSet) -> Tensors: ...

    def expected(self, blueprint: Blueprint) -> Tensors:
        """Names, shapes and types of the tensors (on the meta device): what a server checks an upload against."""
        ...

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """What is wrong with these values, by tensor: finite, named, ordered, shaped and typed as `expected`."""
        ...


class AddsUp(Part, Protocol):
    """A part of two sets of images together is the sum of the parts of both (for one and the same network)."""

    def add(self, a: Tensors, b: Tensors) -> Tensors: ...


Parts = frozenset[Part]


def extract(parts: Parts, network: Network, shard: ImageSet) -> dict[str, Tensor]:
    """Copies of the tensors of all parts, by name."""
    tensors = together((part, part(network, shard)) for part in parts)
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}


def expected_of(parts: Parts, blueprint: Blueprint) -> dict[str, Tensor]:
    """Names, shapes and types of the tensors of all parts, by name."""
    return together((part, part.expected(blueprint)) for part in parts)


def together(parts: Iterable[tuple[Part, Tensors]]) -> dict[str, Tensor]:
    """All tensors by name; a name that two parts claim is rejected, because one of them would be lost."""
    tensors: dict[str, Tensor] = {}
    owners: dict[str, str] = {}
    for part, own in parts:
        for name in own:
            if name in owners:
                first, second = sorted((owners[name], part.kind))
                raise UploadError(f"parts {first} and {second} both claim the tensor {name!r}", "rename one of them")
            owners[name] = part.kind
        tensors |= own
    return dict(sorted(tensors.items()))


def wire_name(part: Part) -> str:
    """The name before the tensors of a part with settings: its kind, and a hash of all settings but the defaults.

    Other settings, other name. A setting that a later version adds has a default, and so changes no name.
    """
    settings = {name: to_tree(value, non_default) for name, value in non_default(part)}
    return f"{part.kind}-{digest(settings)[:8]}"


def added(a: Tensors, b: Tensors) -> dict[str, Tensor]:
    return {name: tensor + b[name] for name, tensor in a.items()}
