"""Names -> compositions. One name is one formula, for ever; version names of the lab notes live only here."""

from mooring.losses import FAFI
from mooring.methods._alignment import ALIGNMENT
from mooring.methods._baselines import BASELINES, MOORING, STATISTICS, TRAINED_AND_SUMS
from mooring.methods._method import TRACKS, Method, Track, feature_maps_of, track_of
from mooring.methods._notes import PLAIN, PUBLIC_BANK

GROUPS: dict[str, dict[str, Method]] = {
    "the default": MOORING,
    "trained networks and sums in one upload": TRAINED_AND_SUMS,
    "FAFI, and controls": PLAIN,
    "contrast with a public feature bank (lab note 1)": PUBLIC_BANK,
    "lambda: FAFI with prototypes pulled to a simplex (lab notes 2 to 5, and after)": ALIGNMENT,
    "baselines of the field": BASELINES,
    "statistics: clients train nothing": STATISTICS,
}
METHODS: dict[str, Method] = {name: method for group in GROUPS.values() for name, method in group.items()}

__all__ = [
    "BASELINES",
    "FAFI",
    "GROUPS",
    "METHODS",
    "MOORING",
    "STATISTICS",
    "TRACKS",
    "TRAINED_AND_SUMS",
    "Method",
    "Track",
    "feature_maps_of",
    "track_of",
]
