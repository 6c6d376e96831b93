"""Measures: from a run to one number."""

from mooring.study.measures.base import Measure
from mooring.study.measures.client import Client
from mooring.study.measures.extreme import Extreme
from mooring.study.measures.from_peak import FromPeak
from mooring.study.measures.fused import Fused
from mooring.study.measures.log10 import Log10
from mooring.study.measures.share import Share
from mooring.study.measures.since import Since
from mooring.study.measures.switch import Switch

MEASURES: dict[str, type[Measure]] = {
    "client": Client,
    "extreme": Extreme,
    "from-peak": FromPeak,
    "fused": Fused,
    "log10": Log10,
    "share": Share,
    "since": Since,
    "switch": Switch,
}

__all__ = ["MEASURES", "Client", "Extreme", "FromPeak", "Fused", "Log10", "Measure", "Share", "Since", "Switch"]
