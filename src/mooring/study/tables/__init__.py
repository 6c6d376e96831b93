"""Tables: what a note prints, beside what is measured."""

from mooring.study.tables.base import Column, Printed, Table
from mooring.study.tables.by_client import ByClient
from mooring.study.tables.by_group import ByGroup
from mooring.study.tables.by_round import ByRound

TABLES: dict[str, type[Table]] = {"by-client": ByClient, "by-group": ByGroup, "by-round": ByRound}

__all__ = ["TABLES", "ByClient", "ByGroup", "ByRound", "Column", "Printed", "Table"]
