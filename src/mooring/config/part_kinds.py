"""The families of parts: where a choice stands, the key that names it, and the kinds there are."""

from mooring.anchors import ANCHORS, Anchor
from mooring.client import Engine
from mooring.client.recipe import STAGE_TIMES, StageTime
from mooring.config.engines import ENGINES
from mooring.data.catalogue import SOURCES
from mooring.data.images import Source
from mooring.data.partition import PARTITIONERS, Partitioner
from mooring.fusion import FUSIONS, Fusion
from mooring.fusion.distillation.supplies import SUPPLIES, Supply
from mooring.fusion.solvers import SOLVERS, Solver
from mooring.losses import LOSSES, LossTerm
from mooring.models.backbones import BACKBONES, Backbone
from mooring.models.feature_maps import FEATURE_MAPS, FeatureMap
from mooring.models.heads import HEADS, Head
from mooring.schema import PartKind
from mooring.uploads.privacy import PRIVACIES, Privacy
from mooring.weighting import WEIGHTINGS, Weighting
from mooring.weighting.guards import GUARDS, Guard
from mooring.weighting.sigma import STARTS, Start

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
