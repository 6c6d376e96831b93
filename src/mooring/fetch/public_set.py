"""What a public set consists of at its address, and how it comes to lie where its source looks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from mooring.fetch.unpack import unpack


@dataclass(frozen=True)
class Remote:
    """One file at its official address, and its place under the data root."""

    url: str
    md5: str
    place: str


class PublicSet(Protocol):
    """A public data set that can be fetched."""

    @property
    def remotes(self) -> tuple[Remote, ...]: ...

    @property
    def folder(self) -> str:
        """Where its source looks for it, under the data root."""

    def there(self, base: Path) -> bool:
        """Is all of it in its folder?"""

    def settle(self, base: Path) -> None:
        """What is left to do when every remote has arrived."""


@dataclass(frozen=True)
class Files:
    """Files that are used as they arrive."""

    remotes: tuple[Remote, ...]
    folder: str

    @classmethod
    def of(cls, address: str, folder: str, md5s: Mapping[str, str]) -> "Files":
        """Files side by side, there as here."""
        return cls(tuple(Remote(f"{address}/{name}", md5, f"{folder}/{name}") for name, md5 in md5s.items()), folder)

    def there(self, base: Path) -> bool:
        return all((base / remote.place).is_file() for remote in self.remotes)

    def settle(self, base: Path) -> None:
        """They are where they should be."""


@dataclass(frozen=True)
class Archive:
    """A tar file of which some members are wanted; it stays, so that a damaged folder is mended without a network."""

    remote: Remote
    folder: str  # in the archive as under the data root
    members: tuple[str, ...]

    @property
    def remotes(self) -> tuple[Remote, ...]:
        return (self.remote,)

    def there(self, base: Path) -> bool:
        return all((base / self.folder / member).is_file() for member in self.members)

    def settle(self, base: Path) -> None:
        unpack(base / self.remote.place, base / self.folder, self.members)
