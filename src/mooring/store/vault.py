"""Clients' states on disk: what a run goes on from when it was interrupted at any moment.

state/client-0003.state     the newest
state/client-0003.before    the one before it: if the newest is damaged, there is still a good one
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from mooring.errors import StoreError
from mooring.store.files import write_atomically
from mooring.store.folder import still_there
from mooring.store.uploads import metadata

FORMAT = 1
DIGEST = 64  # hexadecimal digits

Kept = tuple[dict[str, Tensor], dict[int, str]]  # a state, and the uploads that were delivered before it


@dataclass
class Vault:
    """The states of one run. Every file begins with the SHA-256 of all that follows it."""

    folder: Path
    fingerprint: str
    uploads: dict[int, dict[int, str]] = field(default_factory=dict)  # client -> round -> SHA-256
    damaged: set[Path] = field(default_factory=set)  # files that were met and are not what was written

    def delivered(self, client: int, round_: int, digest: str) -> None:
        """An upload is on disk: the states that follow rely on it."""
        self.uploads.setdefault(client, {})[round_] = digest

    def keep(self, client: int, tensors: Mapping[str, Tensor]) -> None:
        """The newest state takes the place of the one before; a crash leaves at least one of them whole."""
        still_there(self.folder)
        facts = {"format": FORMAT, "fingerprint": self.fingerprint, "uploads": self.uploads.get(client, {})}
        body = save(dict(tensors), {"mooring": json.dumps({"client": client, **facts})})
        newest, before = self._paths(client)
        if newest.exists():
            try:
                newest.replace(before)
            except OSError as error:
                raise StoreError(f"{newest}: cannot be moved ({error.strerror})", "check the run folder") from None
        write_atomically(newest, sha256(body).hexdigest().encode() + body)

    def last(self, client: int) -> dict[str, Tensor] | None:
        """The newest state that is whole, belongs to this run, and whose uploads are still there."""
        found = self._newest(client)
        return None if found is None else found[0]

    def vouched(self, client: int) -> dict[int, str]:
        """The uploads, by round, that the state to go on from relies on."""
        found = self._newest(client)
        return {} if found is None else found[1]

    def _newest(self, client: int) -> Kept | None:
        return next(filter(None, (self._read(path, client) for path in self._paths(client))), None)

    def _read(self, path: Path, client: int) -> Kept | None:
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, body = data[:DIGEST], data[DIGEST:]
        if sha256(body).hexdigest().encode() != digest:
            self.damaged.add(path)
            return None
        facts = json.loads(metadata(body)["mooring"])
        mine = (facts["client"], facts["format"], facts["fingerprint"]) == (client, FORMAT, self.fingerprint)
        relied = {int(round_): digest for round_, digest in facts["uploads"].items()}
        if not mine or not relied.items() <= self.uploads.get(client, {}).items():
            return None
        try:
            return load(body), relied
        except SafetensorError:
            return None

    def _paths(self, client: int) -> tuple[Path, Path]:
        newest = self.folder / "state" / f"client-{client:04d}.state"
        return newest, newest.with_suffix(".before")
