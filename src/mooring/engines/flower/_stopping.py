"""How clients are asked to save and stop: through files, because a process of Ray's never hears Ctrl-C."""

import os
import signal
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mooring.client import Tensors
from mooring.processes import Stopped

STOP = "stop"
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has only the second, and it is as final there


@dataclass(frozen=True)
class StopFiles:
    """One file says that everybody stops, and one for each client that it has begun, and in which process.

    A client says that it begins before it looks whether it may; who asks looks after asking. So each client that
    trains is known to whoever asks.
    """

    folder: Path

    def ask(self) -> None:
        (self.folder / STOP).touch()

    @property
    def asked(self) -> bool:
        return (self.folder / STOP).exists()

    def begin(self, client: int) -> bool:
        """Say that this process begins with a client; may it?"""
        written = self.folder / f"{client}.writing"
        written.write_text(str(os.getpid()))
        written.replace(self.folder / f"{client}.begun")
        return not self.asked

    def begun(self) -> dict[int, int]:
        """The process of every client that has begun."""
        return {int(path.stem): int(path.read_text()) for path in self.folder.glob("*.begun")}

    def kill(self, answered: Collection[int]) -> None:
        """End the processes of those who have begun and not answered."""
        for client, process in self.begun().items():
            if client not in answered:
                with suppress(ProcessLookupError):
                    os.kill(process, KILL)


class LastState:
    """Keeps the newest state in memory: it travels with the one reply, at the client's end or when it is stopped."""

    def __init__(self, last: Tensors | None, files: StopFiles) -> None:
        self.first = last
        self.files = files
        self.kept: Tensors | None = None

    def last(self) -> Tensors | None:
        return self.first

    def due(self, step: int) -> bool:
        return self.files.asked

    def keep(self, tensors: Tensors) -> None:
        self.kept = tensors
        if self.files.asked:
            raise Stopped
