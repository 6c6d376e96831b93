"""The shape of what a fusion makes: images in, scores out; and how a file becomes one again."""

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeVar

import torch
from torch import Tensor, nn

from mooring.errors import ModelError
from mooring.models import Blueprint, ClassesByKind, Network, class_of_kind, read_plan, reject_plan
from mooring.schema import PartKinds, Tree, kind_of, shorten
from mooring.uploads import network_of, networks_of

if TYPE_CHECKING:
    from mooring.fusion._typical import Typical

M = TypeVar("M", bound=nn.Module)
S = TypeVar("S", bound="Saveable")
Confidence = Literal["probability", "score"]


@dataclass(frozen=True)
class FittedHead:
    """A head that was computed from sums: its solver, the accuracy to compare it by, and the time it took."""

    solver: Tree  # with the strength that the sums chose
    expected_accuracy: float | None  # None for a head whose scores of images left out do not follow from the sums
    seconds: float

    @property
    def cells(self) -> dict[str, str]:
        return head_cells(self.solver)


def head_cells(solver: Mapping[str, object]) -> dict[str, str]:
    """A solver in two cells of a table: its name with other settings than the strength, and the strength."""
    rest = [str(value) for key, value in solver.items() if key not in {"kind", "strength", "shrinkage"}]
    strength = solver.get("strength", solver.get("shrinkage"))
    name = str(solver["kind"]) + (f" ({', '.join(rest)})" if rest else "")
    return {"head": name, "strength": f"{strength:.2g}" if isinstance(strength, float) else ""}


class Saveable(nn.Module, ABC):
    """A module that a file can hold: its tree says which one and how it is put together, its state says the rest."""

    kind: ClassVar[str]
    holds: ClassVar[tuple[str, ...]] = ()  # the names of its own tensors
    sides: ClassVar[tuple[int, ...]] = ()  # how many each of them has; a user's own class may leave it open
    dtype: ClassVar[torch.dtype | None] = None  # of all of them, where it is one

    def hold(self, **tensors: Tensor) -> None:
        """Copies, laid out as a file lays them out: the layout of a matrix can decide the last bit of a product."""
        if tensors.keys() != set(self.holds):
            raise TypeError(f"{type(self).__name__} holds {self.holds}, not {tuple(tensors)}")
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor.detach().clone(memory_format=torch.contiguous_format))

    def tree(self) -> Tree:
        return kind_of(type(self))

    @classmethod
    @abstractmethod
    def restored(cls, saved: "Saved") -> Self:
        """The same module again, from its tree and its tensors."""


class Predictor(Saveable):
    """Images (B, C, H, W), uint8 or [0, 1] -> scores (B, classes), in eval mode for good.

    A server must never adapt its batch norm to test batches. `clients` are those whose own networks take part in every
    prediction, one pass each.

    >>> import torch
    >>> from mooring import load_model
    >>> predictor = load_model("runs/v12/model.mooring").predictor
    >>> predictor(torch.zeros(2, 1, 8, 8, dtype=torch.uint8)).shape
    torch.Size([2, 10])
    """

    clients: tuple[int, ...] = ()
    passes: int = 1  # through an encoder, for one prediction
    made: FittedHead | None = None  # of predictors from sums that were just computed; a file does not hold it
    typical: "Typical | None" = None  # what the same sums tell of a typical image; a file holds it beside the predictor
    confidence: Confidence = "score"  # what the soft-max of its scores is: a probability only if somebody saw to it

    def __init__(self, blueprint: Blueprint) -> None:
        super().__init__()
        self.blueprint = blueprint
        self.eval()

    @abstractmethod
    def forward(self, images: Tensor) -> Tensor: ...

    def with_members(self, images: Tensor) -> tuple[Tensor, list[Tensor]]:
        """The scores, and every client's own logits where they cost no further pass."""
        scores: Tensor = self(images)
        return scores, []

    def with_parts(self, images: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:
        """The same, and the scores of the predictors that this one adds up, if it does."""
        return *self.with_members(images), []

    def train(self, mode: bool = True) -> Self:
        super().train(False)
        return self


class Scorer(Saveable):
    """Features (B, d) -> scores of the classes that somebody has seen."""

    dtype: ClassVar[torch.dtype | None] = torch.float64

    @classmethod
    def restored(cls, saved: "Saved") -> Self:
        return cls(**saved.held(cls))


@dataclass(frozen=True)
class Saved:
    """A module as a file holds it: which one it is, and its tensors by name."""

    tree: Tree
    tensors: Mapping[str, Tensor]
    blueprint: Blueprint
    part_kinds: PartKinds  # of backbones, heads and feature maps
    kinds: ClassesByKind  # classes that it may be made of
    path: str = ""  # of this module within the whole
    encoder: str | None = None  # where an encoder lies that the file names by its SHA-256

    def tensor(self, name: str) -> Tensor:
        if name not in self.tensors:
            raise ModelError(f"tensor {self.path + name!r} is missing", "save it again")
        return self.tensors[name]

    def held(self, cls: type[Saveable]) -> dict[str, Tensor]:
        """What a module of this class holds, with as many sides and of the type that it has."""
        tensors = {name: self.tensor(name) for name in cls.holds}
        for name, sides in zip(cls.holds, cls.sides, strict=False):
            if tensors[name].dim() != sides or cls.dtype not in (None, tensors[name].dtype):
                kind = "" if cls.dtype is None else f" of {cls.dtype}"
                message = f"tensor '{self.path}{name}' is {shape_of(tensors[name])}, and must have {sides} sides{kind}"
                raise ModelError(message, "save it again")
        return tensors

    def below(self, name: str) -> dict[str, Tensor]:
        start = f"{name}."
        return {key.removeprefix(start): tensor for key, tensor in self.tensors.items() if key.startswith(start)}

    def value(self, name: str, annotation: Any, default: object = None) -> Any:
        """What the tree says under this name, if it fits the annotation."""
        return read_plan(annotation, self.tree.get(name, default), self.part_kinds, self.path + name)

    def inner(self, name: str, family: type[S]) -> S:
        """A module within this one."""
        tree = self.tree.get(name)
        if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
            reject_plan(f"{self.path}{name}={shorten(tree)}: must be a mapping with a kind")
        cls = class_of_kind(tree["kind"], self.kinds, f"{self.path}{name}.kind")
        if not issubclass(cls, family):
            reject_plan(f"{self.path}{name}.kind={tree['kind']}: is no {family.__name__}")
        return cls.restored(replace(self, tree=tree, tensors=self.below(name), path=f"{self.path}{name}."))

    def predictor(self, name: str) -> Predictor:
        return self.inner(name, Predictor)  # type: ignore[type-abstract]

    def scorer(self, name: str) -> Scorer:
        return self.inner(name, Scorer)

    def network(self, name: str) -> Network:
        own = self.below(name)
        self.fits(name, own, shapes_of(self.network_without_state))
        return network_of(own, self.blueprint)

    def networks(self, name: str, count: int) -> tuple[Network, ...]:
        """Networks 0, 1, ... below `name`, built once the file is known to hold all of them."""
        states: defaultdict[str, dict[str, Tensor]] = defaultdict(dict)
        for key, tensor in self.below(name).items():
            number, _, rest = key.partition(".")
            states[number][rest] = tensor
        shapes = shapes_of(self.network_without_state)
        for member in range(count):
            self.fits(f"{name}.{member}", states[str(member)], shapes)
        return tuple(networks_of((states[str(member)] for member in range(count)), self.blueprint))

    def network_without_state(self) -> Network:
        return self.blueprint.build(torch.Generator())

    def filled(self, name: str, build: Callable[[], M]) -> M:
        """A module with the tensors below `name`; it is built once the file is known to hold all of it, and no more."""
        own = self.below(name)
        self.fits(name, own, shapes_of(build))
        module = build()
        module.load_state_dict(own)
        return module

    def fits(self, name: str, own: Mapping[str, Tensor], shapes: Mapping[str, Tensor]) -> None:
        for key in sorted(shapes.keys() | own.keys()):
            saved, there = (shape_of(tensors.get(key)) for tensors in (shapes, own))
            if saved != there:
                raise ModelError(f"tensor '{self.path}{name}.{key}' is {there}, not {saved}", "save it again")


def shapes_of(build: Callable[[], nn.Module]) -> dict[str, Tensor]:
    """The state of a module without its numbers: a plan of a few bytes must not fill the memory."""
    with torch.device("meta"):
        return dict(build().state_dict())


def shape_of(tensor: Tensor | None) -> str:
    return "nothing" if tensor is None else f"{tensor.dtype} {tuple(tensor.shape)}"
