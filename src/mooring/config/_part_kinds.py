"""The families of parts with the key that names a part and the kinds of each family, and how they are built.

Engines are imported when they are needed, because their package is a layer above this one.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from mooring.anchors import ANCHORS, Anchor
from mooring.client import STAGE_TIMES, Engine, StageTime
from mooring.config._tree import read_file
from mooring.config._trust import HOUSE_CODE, Trust
from mooring.config._user_parts import import_object, own_class, unknown_key, writing_problem
from mooring.data import PARTITIONERS, SOURCES, Partitioner, Source
from mooring.errors import ConfigError
from mooring.fusion import FUSIONS, SOLVERS, SUPPLIES, Fusion, Solver, Supply
from mooring.losses import LOSSES, LossTerm
from mooring.models import FEATURE_MAPS, HEADS, MODELS, Backbone, FeatureMap, Head
from mooring.schema import Builder, PartKind, PartKinds, nearest_neighbour
from mooring.uploads import PRIVACIES, Privacy
from mooring.weighting import GUARDS, STARTS, WEIGHTINGS, Guard, Start, Weighting

ENGINES_BY_KIND = "mooring.engines:ENGINES"
T = TypeVar("T")
Suggest = Callable[[str, Any, list[str]], str]  # path, value, known keys -> remedy


class Engines(Mapping[str, type[Engine]]):
    """kind -> class"""

    @property
    def by_kind(self) -> dict[str, type[Engine]]:
        found: dict[str, type[Engine]] = import_object(ENGINES_BY_KIND, HOUSE_CODE)
        return found

    def __getitem__(self, kind: str) -> type[Engine]:
        return self.by_kind[kind]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_kind)

    def __len__(self) -> int:
        return len(self.by_kind)


ENGINES = Engines()


def usual_engine() -> Engine:
    """On this machine, as many workers as it has cores."""
    return ENGINES["local"]()


PART_KINDS: dict[type, PartKind] = {
    Source: PartKind("source", SOURCES),
    Partitioner: PartKind("kind", PARTITIONERS),
    Backbone: PartKind("kind", MODELS),
    Head: PartKind("kind", HEADS),
    LossTerm: PartKind("kind", LOSSES),
    Anchor: PartKind("kind", ANCHORS),
    Weighting: PartKind("kind", WEIGHTINGS),
    Guard: PartKind("kind", GUARDS),
    Start: PartKind("kind", STARTS),
    StageTime: PartKind("kind", STAGE_TIMES),
    FeatureMap: PartKind("kind", FEATURE_MAPS),
    Fusion: PartKind("kind", FUSIONS),
    Solver: PartKind("kind", SOLVERS),
    Supply: PartKind("kind", SUPPLIES),
    Engine: PartKind("kind", ENGINES),
    Privacy: PartKind("kind", PRIVACIES),
}


def builder_of(kinds: PartKinds, trust: Trust, suggest: Suggest = nearest_neighbour) -> Builder:
    """A builder that finds the classes of users whose code is trusted."""
    return Builder(kinds, suggest, partial(own_class, kinds=kinds, trust=trust), writing_problem, unknown_key)


def load_value(cls: type[T], file: Path, families: Mapping[type, Mapping[str, type]]) -> T:
    """The dataclass `cls` that the file describes; members of `families` are named by their `kind`."""
    builder = builder_of({family: PartKind("kind", kinds) for family, kinds in families.items()}, HOUSE_CODE)
    value: T = builder.build(cls, read_file(file))
    if builder.problems:
        raise ConfigError(dict.fromkeys(f"{file.name}: {problem.message}" for problem in builder.problems))
    return value
