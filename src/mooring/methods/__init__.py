"""Names -> compositions. One name is one formula, for ever; version names of the lab notes live only here."""

from mooring.losses.fafi import FAFI
from mooring.methods.alignment import ALIGNMENT
from mooring.methods.baselines import BASELINES, MOORING, STATISTICS
from mooring.methods.method import Method, track_of
from mooring.methods.notes import PLAIN, PUBLIC_BANK

METHODS: dict[str, Method] = {**MOORING, **PLAIN, **PUBLIC_BANK, **ALIGNMENT, **BASELINES, **STATISTICS}
RETIRED: dict[str, str] = {"moored": "mooring, or v7 with fusion=class-expert"}  # once a method -> what took its place

__all__ = ["FAFI", "METHODS", "RETIRED", "Method", "track_of"]
