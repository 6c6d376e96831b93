"""The families of parts: where a choice stands, the key that names it, and the kinds there are."""

from mooring.anchors import ANCHORS, Anchor
from mooring.client import Engine
from mooring.client.recipe import WHENS, When
from mooring.config.engines import ENGINES
from mooring.config.slots import Slot
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
from mooring.uploads.privacy import PRIVACIES, Privacy
from mooring.weighting import WEIGHTINGS, Weighting
from mooring.weighting.guards import GUARDS, Guard
from mooring.weighting.sigma import STARTS, Start

SLOTS: dict[type, Slot] = {
    Source: Slot("source", SOURCES),
    Partitioner: Slot("kind", PARTITIONERS),
    Backbone: Slot("kind", BACKBONES),
    Head: Slot("kind", HEADS),
    LossTerm: Slot("kind", LOSSES),
    Anchor: Slot("kind", ANCHORS),
    Weighting: Slot("kind", WEIGHTINGS),
    Guard: Slot("kind", GUARDS),
    Start: Slot("kind", STARTS),
    When: Slot("kind", WHENS),
    FeatureMap: Slot("kind", FEATURE_MAPS),
    Fusion: Slot("kind", FUSIONS),
    Solver: Slot("kind", SOLVERS),
    Supply: Slot("kind", SUPPLIES),
    Engine: Slot("kind", ENGINES),
    Privacy: Slot("kind", PRIVACIES),
}
