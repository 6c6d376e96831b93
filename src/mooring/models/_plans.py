"""Plans of networks as trees, and back. A tree may come from a file that a stranger wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from math import prod
from typing import Annotated, Any, NoReturn

from annotated_types import MinLen

from mooring.errors import ModelError, nearest, one_line
from mooring.models._backbones import Backbone
from mooring.models._feature_maps import FEATURE_MAPS, FeatureMap
from mooring.models._heads import HEADS, Head
from mooring.models._network import Blueprint
from mooring.models._own_modules import MODELS, backbone_of, is_factory
from mooring.schema import (
    Builder,
    Count,
    PartKind,
    PartKinds,
    Positive,
    Tree,
    by_file_hash,
    kind_of,
    record_tree,
    to_tree,
)

ClassesByKind = Mapping[str, type]
MOST_PIXELS = 2**24  # of one image
MOST_CLASSES = 2**16
SAVE_AGAIN = "save it again"
PASS_CLASS = "pass the class itself when you load it: none is imported by name"


@dataclass(frozen=True)
class ModelPlan:
    """What a network is made of."""

    backbone: Backbone
    head: Head


@dataclass(frozen=True)
class ImagePlan:
    """What a network takes."""

    shape: tuple[Count, Count, Count]  # channels, height, width
    mean: Annotated[tuple[float, ...], MinLen(1)]  # one number, or one for each channel
    std: Annotated[tuple[Positive, ...], MinLen(1)]


@dataclass(frozen=True)
class NetworkPlan:
    """A blueprint as client jobs and saved predictors write it."""

    model: ModelPlan
    classes: Annotated[tuple[str, ...], MinLen(1)]
    preprocessing: ImagePlan


def known_kinds(trusted: Iterable[type] = ()) -> PartKinds:
    """Every kind that a plan may name: those of the package, and the classes that the caller trusts."""
    own = {kind: cls for kind, cls in classes_by_kind(trusted).items() if is_dataclass(cls)}
    families: dict[type, ClassesByKind] = {Backbone: MODELS, Head: HEADS, FeatureMap: FEATURE_MAPS}
    return {family: PartKind("kind", {**kinds, **own}) for family, kinds in families.items()}


def classes_by_kind(classes: Iterable[type]) -> dict[str, type]:
    """Classes by the kind that a tree gives them: a user's own by where it is imported from."""
    backbones = (backbone_of(cls) if is_factory(cls) else cls for cls in classes)
    return {kind_of(cls)["kind"]: cls for cls in backbones}


def blueprint_tree(blueprint: Blueprint) -> Tree:
    """Model, class names and preprocessing, as client jobs and saved predictors have them."""
    return {
        "model": {name: to_tree(getattr(blueprint, name), by_file_hash) for name in ("backbone", "head")},
        "classes": list(blueprint.classes),
        "preprocessing": record_tree(ImagePlan(blueprint.shape, blueprint.mean, blueprint.std)),
    }


def blueprint_of(tree: Tree, kinds: PartKinds) -> Blueprint:
    """The blueprint that a tree describes; ModelError names the key that does not."""
    plan: NetworkPlan = read_plan(NetworkPlan, {key: tree.get(key) for key in tree.keys() & PLAN_KEYS}, kinds)
    model, images = plan.model, plan.preprocessing
    if len(plan.classes) > MOST_CLASSES:
        reject_plan(f"classes: are {len(plan.classes)}; at most {MOST_CLASSES}")
    if prod(images.shape) > MOST_PIXELS:
        reject_plan(f"preprocessing.shape={list(images.shape)}: must be at most {MOST_PIXELS} pixels")
    for name, values in (("mean", images.mean), ("std", images.std)):
        if len(values) not in (1, images.shape[0]):
            reject_plan(f"preprocessing.{name}={list(values)}: must be one number, or one for each channel")
    return Blueprint(model.backbone, model.head, images.shape, plan.classes, images.mean, images.std)


PLAN_KEYS = {f.name for f in fields(NetworkPlan)}


def read_plan(annotation: Any, tree: object, kinds: PartKinds, path: str = "") -> Any:
    """The value that a tree describes; no class is imported because a file names it."""
    builder = Builder(kinds, find_class=class_not_passed)
    value = builder.build(annotation, tree, path=path)
    if builder.problems:
        reject_plan(builder.problems[0].message)
    reject_nesting(value, path)
    return value


def class_not_passed(name: str, family: type) -> NoReturn:
    raise ModelError(f"kind={name[:60]!a}: unknown", PASS_CLASS)


def reject_nesting(part: Any, path: str, above: tuple[type, ...] = ()) -> None:
    """A feature map may hold another one, but none of its own kind: it would cost the reader without end."""
    if type(part) in above:
        reject_plan(f"{path}: holds a part of its own kind")
    for f in fields(part) if is_dataclass(part) else ():
        reject_nesting(getattr(part, f.name), f"{path}.{f.name}".lstrip("."), (*above, type(part)))


def class_of_kind(kind: str, kinds: ClassesByKind, path: str) -> type:
    """The class of this kind; a class of a user must have been passed."""
    if kind in kinds:
        return kinds[kind]
    raise ModelError(f"{path}={kind[:60]!a}: unknown", PASS_CLASS if ":" in kind else nearest(kind, kinds))


def reject_plan(problem: str) -> NoReturn:
    raise ModelError(one_line(problem), SAVE_AGAIN)
