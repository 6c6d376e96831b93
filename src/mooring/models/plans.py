"""Plans of networks as trees, and back: strictly, because a tree may come from a stranger's file."""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from math import prod
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from mooring.errors import ModelError, nearest
from mooring.models.backbones import BACKBONES
from mooring.models.feature_maps import FEATURE_MAPS, FeatureMap
from mooring.models.heads import HEADS
from mooring.models.network import Blueprint
from mooring.trees import Tree, by_file_hash, kind_of, to_tree

Kinds = Mapping[str, type]
MOST_PIXELS = 2**24  # of one image
MOST_CLASSES = 2**16


@dataclass(frozen=True)
class Families:
    """Every kind that a plan may name: those of the house, and the classes that the caller trusts."""

    backbones: Kinds
    heads: Kinds
    maps: Kinds

    @classmethod
    def of(cls, trusted: Iterable[type] = ()) -> "Families":
        own = classes_by_kind(trusted)
        return cls(BACKBONES | own, HEADS | own, FEATURE_MAPS | own)


def classes_by_kind(classes: Iterable[type]) -> dict[str, type]:
    """Classes by the kind that a tree gives them: a user's own by where it is imported from."""
    return {kind_of(cls)["kind"]: cls for cls in classes}


def blueprint_tree(blueprint: Blueprint) -> Tree:
    """Model, class names and preprocessing, as client jobs and saved predictors tell them."""
    return {
        "model": {name: to_tree(getattr(blueprint, name), by_file_hash) for name in ("backbone", "head")},
        "classes": list(blueprint.classes),
        "preprocessing": {name: list(getattr(blueprint, name)) for name in ("shape", "mean", "std")},
    }


def blueprint_of(tree: Tree, families: Families) -> Blueprint:
    """The blueprint that a tree describes; anything else raises an error that names the key."""
    model, classes, images = (tree.get(key) for key in ("model", "classes", "preprocessing"))
    if not isinstance(model, dict) or model.keys() != {"backbone", "head"}:
        reject_tree("model", model, "must name a backbone and a head")
    if not isinstance(images, dict) or images.keys() != {"shape", "mean", "std"}:
        reject_tree("preprocessing", images, "must tell shape, mean and std")
    if not isinstance(classes, list) or not 0 < len(classes) <= MOST_CLASSES or not all_of(classes, str):
        reject_tree("classes", classes, "must be the names of the classes")
    shape, mean, std = images["shape"], images["mean"], images["std"]
    if not all_of(shape, int) or len(shape) != 3 or min(shape) < 1 or prod(shape) > MOST_PIXELS:
        reject_tree("preprocessing.shape", shape, f"must be channels, height and width, at most {MOST_PIXELS} pixels")
    for key, values in (("mean", mean), ("std", std)):
        if not all_of(values, int, float) or len(values) not in (1, shape[0]):
            reject_tree(f"preprocessing.{key}", values, "must be one number, or one for each channel")
    if min(std) <= 0:
        reject_tree("preprocessing.std", std, "must be above 0")
    return Blueprint(
        build_part(model["backbone"], families.backbones, "model.backbone"),
        build_part(model["head"], families.heads, "model.head"),
        (shape[0], shape[1], shape[2]),
        tuple(classes),
        tuple(map(float, mean)),
        tuple(map(float, std)),
    )


def build_part(tree: object, kinds: Kinds, path: str) -> Any:
    """The frozen value that a tree describes, of one of these kinds; nothing is ever imported by name."""
    if not isinstance(tree, dict) or not isinstance(tree.get("kind"), str):
        reject_tree(path, tree, "must be a mapping with a kind")
    cls = kind_in(tree["kind"], kinds, f"{path}.kind")
    if not is_dataclass(cls):
        reject_tree(f"{path}.kind", tree["kind"], "is not a dataclass")
    hints, known = get_type_hints(cls, include_extras=True), {f.name: f for f in fields(cls)}
    for key in tree.keys() - known.keys() - {"kind"}:
        reject_tree(f"{path}.{key}", tree[key], "is no setting of this kind")
    for name, f in known.items():
        if name not in tree and f.default is MISSING and f.default_factory is MISSING:
            reject_tree(f"{path}.{name}", None, "is required")
    values = {name: tree[name] for name in known if name in tree}
    others = {kind: other for kind, other in kinds.items() if other is not cls}  # within one another, but not for ever
    return cls(**{name: checked(value, hints[name], f"{path}.{name}", others) for name, value in values.items()})


def kind_in(kind: str, kinds: Kinds, path: str) -> type:
    """The class of this kind; a class of somebody else's must have been handed over."""
    if kind not in kinds:
        hint = "pass the class itself when you load it: none is imported by name" if ":" in kind else ""
        raise ModelError(f"{path}={kind[:60]!a}: unknown", hint or nearest(kind, kinds))
    return kinds[kind]


def checked(value: object, hint: Any, path: str, kinds: Kinds) -> object:
    """A number or a text of this type and within its bounds, one of several texts, a list of texts, or another map."""
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (member for member in get_args(hint) if member is not NoneType)
        if value is None:
            return None
    if hint is FeatureMap:
        return build_part(value, kinds, path)
    if get_origin(hint) is Literal:
        if value not in get_args(hint) or type(value) is not str:
            reject_tree(path, value, f"must be one of {', '.join(get_args(hint))}")
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list) or not all(type(part) is str for part in value):
            reject_tree(path, value, "must be a list of texts")
        return tuple(value)
    base, *bounds = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if base is float and type(value) is int:
        value = float(value)
    if base not in (int, float, str, bool) or type(value) is not base:
        reject_tree(path, value, f"must be {getattr(base, '__name__', base)}")
    for bound in bounds:
        holds, words = within_bound(value, bound)
        if not holds:
            reject_tree(path, value, f"must be {words}")
    return value


def within_bound(value: Any, bound: object) -> tuple[bool, str]:
    """Does the value keep within the bound, and how the bound is said."""
    match bound:
        case Gt(gt=low):
            return value > low, f"above {low}"
        case Ge(ge=low):
            return value >= low, f"at least {low}"
        case Lt(lt=high):
            return value < high, f"below {high}"
        case Le(le=high):
            return value <= high, f"at most {high}"
    return True, ""


def all_of(values: object, *types: type) -> bool:
    """A list with something in it, all of these very types."""
    return isinstance(values, list) and len(values) > 0 and all(type(value) in types for value in values)


def reject_tree(path: str, value: object, reason: str) -> NoReturn:
    shown = ascii(value)
    raise ModelError(f"{path}={shown if len(shown) <= 60 else shown[:57] + '...'}: {reason}", "save it again")
