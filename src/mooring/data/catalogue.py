"""All sources in one visible place, and what of them is on this disk."""

from collections.abc import Mapping
from dataclasses import dataclass

from mooring.data import arrays, image_tree
from mooring.data.arrays import Arrays
from mooring.data.cifar import Cifar10, Cifar100
from mooring.data.digits import Digits
from mooring.data.fashion_mnist import FashionMnist
from mooring.data.image_folder import ImageFolder
from mooring.data.images import Source, Surveyable
from mooring.data.svhn import Svhn
from mooring.errors import DataError

SOURCES: dict[str, type[Source]] = {
    "arrays": Arrays,
    "cifar10": Cifar10,
    "cifar100": Cifar100,
    "digits": Digits,
    "fashion_mnist": FashionMnist,
    "image_folder": ImageFolder,
    "svhn": Svhn,
}
OWN = {"arrays": arrays.WANTED, "image_folder": image_tree.WANTED}  # a user's own data: what data.root must be


@dataclass(frozen=True)
class SourceInfo:
    """One line of `mooring data`; `found` is None for a user's own data, which is wherever `data.root` says."""

    name: str
    found: bool | None
    train: int = 0
    test: int = 0
    classes: int = 0
    shape: tuple[int, int, int] | None = None  # (C, H, W)
    nbytes: int = 0  # on disk
    note: str = ""  # where it was found, why it was not, or what it wants


def survey(root: str | None) -> list[SourceInfo]:
    """Every source by name: the public ones as found under the data root, one's own as what they want."""
    public: Mapping[str, Surveyable] = {
        "cifar10": Cifar10(root),
        "cifar100": Cifar100(root),
        "digits": Digits(root),
        "fashion_mnist": FashionMnist(root),
        "svhn": Svhn(root),
    }
    infos = [_look(name, source) for name, source in public.items()]
    infos += [SourceInfo(name, None, note=f"set data.root to {wanted}") for name, wanted in OWN.items()]
    return sorted(infos, key=lambda info: info.name)


def _look(name: str, source: Surveyable) -> SourceInfo:
    try:
        seen = source.overview()
    except DataError as error:
        return SourceInfo(name, False, note=str(error))
    nbytes = sum(path.stat().st_size for path in seen.files)
    note = f"in {seen.files[0].parent}" if seen.files else "comes with scikit-learn"
    return SourceInfo(name, True, seen.train, seen.test, seen.classes, seen.shape, nbytes, note)
