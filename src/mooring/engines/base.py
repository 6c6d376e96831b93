"""The shape of an engine."""

from collections.abc import Iterator
from typing import ClassVar, Protocol

from mooring.client import ClientJob
from mooring.client.checkpoint import NO_VAULT, Vault
from mooring.data.clients import Federation
from mooring.types import Emit, Upload


class Engine(Protocol):
    """Runs clients, each from start to end, and hands over their uploads as they arrive, in any order."""

    kind: ClassVar[str]

    def collect(self, job: ClientJob, federation: Federation, emit: Emit, vault: Vault = NO_VAULT) -> Iterator[Upload]:
        """Called once per run; clients go on from the states in the vault.

        A client that fails alone is an event `failed`; the others go on.
        """
