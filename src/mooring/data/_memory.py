"""Images in the memory of this program: arrays, tensors, a torch `Dataset`, or a Hugging Face data set.

There is no file to name, so a hash of all images and labels identifies the data. An experiment records the hash; the
images themselves stay with the source that holds them. A run is resumed by giving the same images again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Annotated, Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
import torch
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from mooring.data._clients import stratified_split
from mooring.data._image_tree import with_progress
from mooring.data._images import ImageSet, Source
from mooring.data._pixels import to_images
from mooring.errors import DataError, nearest
from mooring.schema import Doc
from mooring.seeds import numpy_generator

IMAGE_COLUMNS = ("image", "img", "pixel_values", "pixels")  # as data sets of Hugging Face call them
LABEL_COLUMNS = ("label", "labels", "fine_label", "target", "class")
WANTED = "give (images, labels), a torch Dataset of such pairs, or a Hugging Face data set"
Chooser = str | Callable[[Any], Any] | Sequence[Any] | NDArray[Any] | torch.Tensor
"""The client or group of every image: an array, the name of a column, or a function of an item."""


@dataclass(frozen=True, eq=False)
class HeldImages:
    """A training part and, if there is one, a test part."""

    train: ImageSet
    test: ImageSet | None

    @property
    def sha256(self) -> str:
        content = sha256()
        for part in (self.train, self.test):
            if part is not None:
                facts = (part.shape, part.classes, part.sites, part.groups)
                content.update(repr(facts).encode() + part.sha256().encode())
            content.update(b"|")
        return content.hexdigest()


HELD: WeakValueDictionary[str, HeldImages] = WeakValueDictionary()  # by hash, while some source holds them


@dataclass(frozen=True)
class InMemory(Source):
    """Images that a program holds; `sha256` identifies them. `as_source` makes one."""

    source: ClassVar[str] = "memory"
    sha256: Annotated[str, Doc("hash of the images and labels; computed by Mooring")] = ""
    held_out: Annotated[float, Gt(0), Lt(1), Doc("test share if no test images are given; stratified")] = 0.2
    test_part: ClassVar[str] = "those given as test images, or else a fixed share of the given images"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_held", HELD.get(self.sha256))  # alive as long as this source is

    @property
    def held(self) -> HeldImages:
        found: HeldImages | None = getattr(self, "_held", None) or HELD.get(self.sha256)
        if found is None:
            raise DataError(
                f"data.sha256={self.sha256[:8]}: these images were in the memory of a program that has ended",
                "make the same source again with mooring.as_source(...), or call mooring.run(...) with the same data",
            )
        return found

    def has_sites(self) -> bool:
        return self.sha256 in HELD and HELD[self.sha256].train.sites is not None

    def image_shape(self) -> tuple[int, int, int] | None:
        return HELD[self.sha256].train.shape if self.sha256 in HELD else None

    def train(self) -> ImageSet:
        held = self.held
        return held.train if held.test is not None else held.train.select(self._divided(held.train)[1])

    def test(self) -> ImageSet:
        held = self.held
        if held.test is not None:
            return held.test
        chosen = held.train.select(self._divided(held.train)[0])
        return ImageSet(chosen.images, chosen.labels, chosen.classes)

    def _divided(self, images: ImageSet) -> tuple[torch.Tensor, torch.Tensor]:
        """(test, train): indices of the images."""
        labels, count = images.labels.numpy(), round(self.held_out * len(images))
        groups = None if images.groups is None else np.array(images.groups)
        rng = numpy_generator(0, "held-out")
        test, train = stratified_split(labels, np.arange(len(images)), count, rng, groups)
        return torch.from_numpy(test), torch.from_numpy(train)


def hold(held: HeldImages) -> str:
    """Let sources of this program find the images while somebody refers to them; their hash."""
    digest = held.sha256
    HELD.setdefault(digest, held)
    return digest


def as_source(
    data: Any,
    test: Any = None,
    *,
    clients: Chooser | None = None,
    groups: Chooser | None = None,
    classes: Sequence[str] | None = None,
) -> InMemory:
    """A source of images that are in memory.

    `data` and `test`: `(images, labels)` as arrays or tensors, a torch `Dataset` of pairs, a Hugging Face data set, or
    an `ImageSet`. A mapping with `train` and `test`, such as a `DatasetDict`, holds both. Images are uint8, or floats
    from 0 to 1, before any normalisation. Without test images, a fifth is held out, every class in proportion.

    `clients`: who holds each image. `groups`: images that stay together, such as those of one writer. Both are an
    array with one entry per image, the name of a column, or a function of an item.

    >>> import numpy as np
    >>> from mooring import as_source
    >>> images = np.random.default_rng(0).integers(0, 256, (100, 8, 8), dtype=np.uint8)
    >>> source = as_source((images, np.arange(100) % 4), clients=np.arange(100) % 5)
    >>> len(source.train()), len(source.test()), source.has_sites()
    (80, 20, True)
    """
    if isinstance(data, Mapping) and "train" in data:
        test = data.get("test", data.get("validation")) if test is None else test
        data = data["train"]
    train = read_images("data", data, clients, groups, classes)
    held = HeldImages(train, None if test is None else read_test("test", test, train))
    return InMemory(sha256=hold(held))


def read_images(
    name: str, data: Any, clients: Chooser | None, groups: Chooser | None, classes: Sequence[str] | None
) -> ImageSet:
    """The images with their labels, clients and groups; `name` stands in messages."""
    if isinstance(data, ImageSet):
        sites = entries(f"{name}: clients", clients, None, len(data)) or data.sites
        return replace(data, sites=sites, groups=entries(f"{name}: groups", groups, None, len(data)) or data.groups)
    if isinstance(data, tuple | list) and len(data) == 2 and not isinstance(data[0], tuple | Mapping):
        pixels, labels, items = as_array(data[0]), as_array(data[1]), None
    else:
        items, named = items_of(name, data)
        pixels, labels = stacked(name, [image for image, _, _ in items]), np.array([label for _, label, _ in items])
        classes = classes or named
    images = to_images(f"{name}: images", pixels)
    numbers, names = numbered(name, labels, len(images), classes)
    sites = entries(f"{name}: clients", clients, items, len(images))
    together = entries(f"{name}: groups", groups, items, len(images))
    return ImageSet(torch.from_numpy(images), torch.from_numpy(numbers), names, sites, together)


def read_test(name: str, data: Any, train: ImageSet) -> ImageSet:
    """Test images, with the classes of the training part."""
    found = read_images(name, data, None, None, train.classes)
    if found.shape != train.shape:
        raise DataError(
            f"{name}: images are {found.shape} but training images are {train.shape}", "bring both to one shape"
        )
    return found


def as_array(values: Any) -> NDArray[Any]:
    return values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else np.asarray(values)


def numbered(
    name: str, labels: NDArray[Any], count: int, classes: Sequence[str] | None
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Labels from 0 and the names of the classes; labels that are text are named by themselves, in sorted order."""
    labels = labels.reshape(len(labels)) if labels.ndim == 2 and labels.shape[1] == 1 else labels
    if labels.shape != (count,):
        raise DataError(
            f"{name}: labels have shape {labels.shape} for {count} images", f"give one label per image: ({count},)"
        )
    if labels.dtype.kind in "US":
        names = tuple(map(str, classes)) if classes is not None else tuple(sorted(set(labels.tolist())))
        unknown = next((label for label in labels.tolist() if label not in names), None)
        if unknown is not None:
            raise DataError(f"{name}: label {unknown!r} is not a class", nearest(unknown, names))
        return np.array([names.index(label) for label in labels.tolist()], dtype=np.int64), names
    if labels.dtype.kind not in "iub" or labels.min() < 0:
        raise DataError(f"{name}: labels are {labels.dtype}, from {labels.min()}", "number the classes 0, 1, 2, ...")
    names = tuple(map(str, classes)) if classes is not None else tuple(map(str, range(int(labels.max()) + 1)))
    if labels.max() >= len(names):
        raise DataError(
            f"{name}: labels hold {labels.max()} but there are {len(names)} classes", "relabel, or name all"
        )
    return labels.astype(np.int64), names


Item = tuple[Any, Any, Any]  # image, label, the item itself


def items_of(name: str, data: Any) -> tuple[list[Item], Sequence[str] | None]:
    """Every item of a data set, and the names of its classes if it says them."""
    try:
        count, first = len(data), data[0]
    except Exception as error:
        raise DataError(f"{name}: a {type(data).__name__} has no length or no item 0 ({error})", WANTED) from None
    if isinstance(first, Mapping):
        image, label = (known_column(name, first, known) for known in (IMAGE_COLUMNS, LABEL_COLUMNS))
        features = getattr(data, "features", None) or {}
        named = getattr(features[label], "names", None) if label in features else None
        rows = (data[i] for i in with_progress(range(count)))
        return [(row[image], row[label], row) for row in rows], named
    if not isinstance(first, tuple | list) or len(first) < 2:
        raise DataError(f"{name}: an item is a {type(first).__name__}, not a pair of image and label", WANTED)
    named = getattr(data, "classes", None)
    found = [data[i] for i in with_progress(range(count))]
    return [(item[0], item[1], item) for item in found], named


def known_column(name: str, item: Mapping[str, Any], known: Sequence[str]) -> str:
    found = next((key for key in known if key in item), None)
    if found is None:
        raise DataError(
            f"{name}: has the columns {', '.join(item)}", f"call one of them {known[0]}, with rename_column"
        )
    return found


def stacked(name: str, images: Sequence[Any]) -> NDArray[Any]:
    """Images of one shape in one array; pictures of PIL become arrays (H, W, C)."""
    arrays = [as_array(image) for image in images]
    shapes = sorted({array.shape for array in arrays})
    if len(shapes) != 1:
        raise DataError(f"{name}: images have the shapes {', '.join(map(str, shapes[:3]))}", "bring all to one shape")
    return np.stack(arrays)


def entries(name: str, chooser: Chooser | None, items: list[Item] | None, count: int) -> tuple[str, ...] | None:
    """The entry of each image as text; numbers get leading zeros, so that their order is kept."""
    if chooser is None:
        return None
    if isinstance(chooser, str) or callable(chooser):
        if items is None:
            raise DataError(f"{name}={chooser}: arrays have no columns", "give an array with one entry per image")
        values = [chooser(item) if callable(chooser) else cell(name, item, chooser) for _, _, item in items]
    else:
        values = as_array(chooser).tolist()
    if len(values) != count:
        raise DataError(f"{name}: has {len(values)} entries for {count} images", "give one entry per image")
    if all(isinstance(value, int) and value >= 0 for value in values):
        width = len(str(max(values)))
        return tuple(f"{value:0{width}d}" for value in values)
    return tuple(map(str, values))


def cell(name: str, item: Any, key: str) -> Any:
    if not isinstance(item, Mapping) or key not in item:
        known = item if isinstance(item, Mapping) else ()
        raise DataError(f"{name}={key}: there is no such column", nearest(key, known))
    return item[key]
