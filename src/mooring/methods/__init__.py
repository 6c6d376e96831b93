"""Names -> compositions. One name is one formula, for ever; version names of the lab notes live only here."""

from mooring.losses.fafi import FAFI
from mooring.methods.alignment import ALIGNMENT
from mooring.methods.baselines import BASELINES, STATISTICS
from mooring.methods.method import Method, track_of
from mooring.methods.notes import PLAIN, PUBLIC_BANK, SOUND

METHODS: dict[str, Method] = {**PLAIN, **PUBLIC_BANK, **ALIGNMENT, **SOUND, **BASELINES, **STATISTICS}

__all__ = ["FAFI", "METHODS", "Method", "track_of"]
