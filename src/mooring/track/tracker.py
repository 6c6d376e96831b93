"""What a tracker is."""

from pathlib import Path
from typing import ClassVar, Protocol

from mooring.track.chronicle import Chronicle


class Tracker(Protocol):
    """A place where runs are shown."""

    usual: ClassVar[str]  # where it writes unless told otherwise

    def __init__(self, out: Path) -> None: ...

    def write(self, chronicle: Chronicle) -> None:
        """Show this run; one that is there already is brought up to date."""
