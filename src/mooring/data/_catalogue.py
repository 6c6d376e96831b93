"""All sources in one visible place, and which of them are on this disk."""

from dataclasses import dataclass

from mooring.data._arrays import Arrays
from mooring.data._cifar import Cifar10, Cifar100
from mooring.data._digits import Digits
from mooring.data._fashion_mnist import FashionMnist
from mooring.data._image_folder import ImageFolder
from mooring.data._images import Source
from mooring.data._memory import InMemory
from mooring.data._mnist import Emnist, Mnist
from mooring.data._svhn import Svhn
from mooring.data._tiny_imagenet import TinyImageNet
from mooring.errors import DataError

SOURCES: dict[str, type[Source]] = {
    "arrays": Arrays,
    "cifar10": Cifar10,
    "cifar100": Cifar100,
    "digits": Digits,
    "emnist": Emnist,
    "fashion_mnist": FashionMnist,
    "image_folder": ImageFolder,
    "memory": InMemory,
    "mnist": Mnist,
    "svhn": Svhn,
    "tiny_imagenet": TinyImageNet,
}


@dataclass(frozen=True)
class SourceInfo:
    """One line of `mooring data`; `found` is None for users' own data, which `data.root` names."""

    name: str
    found: bool | None
    train: int = 0
    test: int = 0
    classes: int = 0
    shape: tuple[int, int, int] | None = None  # (C, H, W)
    nbytes: int = 0  # on disk
    note: str = ""  # where it was found, why it was not, or what data.root must be


def list_sources(root: str | None) -> list[SourceInfo]:
    """Every source by name: public data as found under the data root, users' own data with what it needs."""
    return [_look(name, SOURCES[name](root)) for name in sorted(SOURCES) if SOURCES[name] is not InMemory]


def _look(name: str, source: Source) -> SourceInfo:
    try:
        seen = source.overview()
    except DataError as error:
        return SourceInfo(name, False, note=str(error))
    if seen is None:
        return SourceInfo(name, None, note=f"set data.root to {source.wanted}")
    nbytes = sum(path.stat().st_size for path in seen.files)
    note = f"in {seen.files[0].parent}" if seen.files else "comes with scikit-learn"
    return SourceInfo(name, True, seen.train, seen.test, seen.classes, seen.shape, nbytes, note)
