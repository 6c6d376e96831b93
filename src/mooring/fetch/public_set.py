"""Public sets: where each comes from, of what it consists there, and how it comes to lie where its source looks for it.

The checksums are those that torchvision publishes for the same files.
"""

import tarfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfileobj
from typing import IO, Protocol

from mooring.data.cifar import FILES_10, FILES_100
from mooring.errors import DataError

TORONTO = "https://www.cs.toronto.edu/~kriz"
STANFORD = "http://ufldl.stanford.edu/housenumbers"
ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"


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


OFFICIAL: dict[str, PublicSet] = {
    "cifar10": Archive(
        Remote(f"{TORONTO}/cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", "cifar-10-python.tar.gz"),
        "cifar-10-batches-py",
        FILES_10,
    ),
    "cifar100": Archive(
        Remote(f"{TORONTO}/cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", "cifar-100-python.tar.gz"),
        "cifar-100-python",
        FILES_100,
    ),
    "fashion_mnist": Files.of(
        ZALANDO,
        "fashion-mnist",
        {
            "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
            "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
            "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
            "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
        },
    ),
    "svhn": Files.of(
        STANFORD,
        "svhn",
        {
            "train_32x32.mat": "e26dedcc434d2e4c54c9b2d4a06d8373",
            "test_32x32.mat": "eb5a983be6a315427106f1b164d9cef3",
        },
    ),
}


def unpack(archive: Path, folder: Path, members: Sequence[str]) -> None:
    """Write `<folder name>/<member>` of the archive to the folder, each whole or not at all; nothing is unpickled.

    Members are asked for by name, so nothing else in the archive can reach the disk.
    """
    missing = {f"{folder.name}/{member}": folder / member for member in members}
    try:
        with tarfile.open(archive, "r|*") as opened:  # from front to back, once
            for entry in opened:
                content = opened.extractfile(entry) if entry.isreg() and entry.name in missing else None
                if content is not None:
                    write(content, missing.pop(entry.name))
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DataError(f"{archive}: cannot be unpacked ({error})", "remove it and fetch it again") from error
    if missing:
        raise DataError(f"{archive}: holds no {', '.join(missing)}", "remove it and fetch it again")


def write(content: IO[bytes], path: Path) -> None:
    draft = path.with_name(f"{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with draft.open("wb") as file:
            copyfileobj(content, file)
        draft.replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: cannot be written ({error.strerror or error})", "free some space or choose another --root"
        ) from error
    finally:
        with suppress(OSError):
            draft.unlink()
