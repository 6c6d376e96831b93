"""The interface of a part of an upload."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from torch import Tensor

from mooring.data import ImageSet, batch_slices
from mooring.errors import UploadError
from mooring.models import Blueprint, Network
from mooring.schema import digest, non_default, to_tree

Tensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class UploadFacts:
    """What an upload says besides its tensors."""

    samples: int  # images that it was computed from


class Part(Protocol):
    """A frozen value: what a client computes from its trained network and its own images, the same in every process.

    `kind` is its permanent name in uploads: a part that computes something else, or whose defaults change, is another
    kind. `sentences` say what its tensors tell about a site; the privacy page and `mooring inspect` show them. Their
    keys are names of tensors: `label_counts`, `moments.sums` for a part with settings (without the hash), or `gram.`
    for all tensors whose names begin with it.

    >>> from mooring.data._digits import Digits
    >>> from mooring.uploads import LabelCounts
    >>> LabelCounts()(None, Digits().test())["label_counts"].sum().item()
    360
    """

    kind: ClassVar[str]
    trained: ClassVar[bool]  # does it depend on the trained network, or on the images alone?
    counts_images: ClassVar[bool] = True  # can the number of images be computed from it?
    sentences: ClassVar[Mapping[str, str]] = {}

    def __call__(self, network: Network, shard: ImageSet) -> Tensors: ...

    def expected(self, blueprint: Blueprint) -> Tensors:
        """Names, shapes and types of the tensors (on the meta device): what a server checks an upload against."""
        ...

    def check(self, tensors: Tensors, facts: UploadFacts) -> list[str]:
        """What is wrong with these values, by tensor: finite, named, ordered, shaped and typed as `expected`."""
        ...


class AddsUp(Part, Protocol):
    """For the same network, the part of two sets of images together is the sum of their parts."""

    def add(self, a: Tensors, b: Tensors) -> Tensors: ...


Parts = frozenset[Part]


def extract_parts(
    parts: Parts, network: Network, shard: ImageSet, computed: Mapping[Part, Tensors] | None = None
) -> dict[str, Tensor]:
    """Copies of the tensors of all parts, by name; `computed` are those of parts that are done already."""
    tensors = combine_tensors((part, (computed or {}).get(part) or part(network, shard)) for part in parts)
    return {name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}


def expected_of(parts: Parts, blueprint: Blueprint) -> dict[str, Tensor]:
    """Names, shapes and types of the tensors of all parts, by name."""
    return combine_tensors((part, part.expected(blueprint)) for part in parts)


def combine_tensors(parts: Iterable[tuple[Part, Tensors]]) -> dict[str, Tensor]:
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
    """The name before the tensors of a part with settings: its kind, and a hash of the settings that are not defaults.

    Other settings give another name. A setting that a later version adds has a default, so it changes no name.
    """
    settings = {name: to_tree(value, non_default) for name, value in non_default(part)}
    return f"{part.kind}-{digest(settings)[:8]}"


def reveals_count(part: Part) -> bool:
    """Can the number of images be computed from this part? Yes, unless the part says otherwise."""
    return bool(getattr(part, "counts_images", Part.counts_images))  # a user's part need not inherit from Part


def sentences_of(parts: Iterable[Part]) -> dict[str, str]:
    """What the tensors of these parts tell about a site, by name."""
    own = (getattr(part, "sentences", Part.sentences) for part in parts)
    return {name: sentence for sentences in own for name, sentence in sentences.items()}


def sentence_in(sentences: Mapping[str, str], tensor: str) -> str | None:
    """The sentence about this tensor, if there is one."""
    name = strip_settings_hash(tensor)
    names = (tensor, name, f"{name.partition('.')[0]}.")
    return next((sentences[name] for name in names if name in sentences), None)


def strip_settings_hash(tensor: str) -> str:
    """`moments-5c93c2a1.sums` -> `moments.sums`; names without a hash stay as they are."""
    first, _, rest = tensor.partition(".")
    kind, _, _ = first.rpartition("-")
    return f"{kind}.{rest}" if kind and rest else tensor


def added(a: Tensors, b: Tensors) -> dict[str, Tensor]:
    return {name: tensor + b[name] for name, tensor in a.items()}


FEATURE_BATCH = 256


class Accumulator(ABC):
    """A part of an upload, computed from all batches so far."""

    @abstractmethod
    def features(self, images: Tensor) -> Tensor:
        """The features of a batch: the expensive part, which changes nothing and may be given up."""

    @abstractmethod
    def add(self, features: Tensor, labels: Tensor) -> None:
        """The next batch, after all before it."""

    @abstractmethod
    def state(self) -> Tensors:
        """All that the batches so far have left."""

    @abstractmethod
    def restore(self, state: Tensors) -> None:
        """Go on where another accumulator was, to the bit."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """What is sent after the last batch."""


class StreamedPart(ABC):
    """A part that never needs all images at once."""

    @abstractmethod
    def accumulator(self, network: Network) -> Accumulator: ...

    def __call__(self, network: Network, shard: ImageSet) -> Tensors:
        found = self.accumulator(network)
        for own in batch_slices(shard.images, FEATURE_BATCH):
            found.add(found.features(shard.images[own]), shard.labels[own])
        return found.tensors()
