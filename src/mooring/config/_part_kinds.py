"""The families of parts: where a choice stands, the key that names it, and the kinds there are."""

from mooring.anchors import ANCHORS, Anchor
from mooring.client import STAGE_TIMES, Engine, StageTime
from mooring.config._engines import ENGINES
from mooring.data import PARTITIONERS, SOURCES, Partitioner, Source
from mooring.fusion import FUSIONS, SOLVERS, SUPPLIES, Fusion, Solver, Supply
from mooring.losses import LOSSES, LossTerm
from mooring.models import BACKBONES, FEATURE_MAPS, HEADS, Backbone, FeatureMap, Head
from mooring.schema import PartKind
from mooring.uploads import PRIVACIES, Privacy
from mooring.weighting import GUARDS, STARTS, WEIGHTINGS, Guard, Start, Weighting

PART_KINDS: dict[type, PartKind] = {
    Source: PartKind("source", SOURCES),
    Partitioner: PartKind("kind", PARTITIONERS),
    Backbone: PartKind("kind", BACKBONES),
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
