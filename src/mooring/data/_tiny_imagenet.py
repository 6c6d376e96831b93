"""Tiny-ImageNet as its archive unpacks: train/<class>/images/*, and val/ with a list of classes."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import ImageFile, TrainAndTest, list_classes
from mooring.errors import DataError
from mooring.schema import Count, Doc

LIST = "val/val_annotations.txt"
WANTED = "the folder tiny-imagenet-200, with train/ and val/"


@dataclass(frozen=True)
class TinyImageNet(ImageFolder):
    """100,000 training images of 64x64 in 200 classes; the official validation part is the test part."""

    source: ClassVar[str] = "tiny_imagenet"
    wanted: ClassVar[str | None] = WANTED
    test_part: ClassVar[str] = "the official validation images; the labels of its test images are not public"
    size: Annotated[Count | None, Doc("pixels per side")] = 64

    def has_sites(self) -> bool:
        return False

    def _divided(self, root: Path, ignored: Counter[str]) -> TrainAndTest:
        train = list_classes(root / "train", ignored)
        known = {file.label: file.folder for file in train}
        try:
            lines = (root / LIST).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{root / LIST} cannot be read: {error}", f"set data.root to {WANTED}") from None
        test = []
        for number, line in enumerate(lines, 1):
            name, _, rest = line.partition("\t")
            label = rest.partition("\t")[0]
            if label not in known or Path(name).name != name:
                raise DataError(f"{root / LIST}:{number}: names {label!r}, not a class of train/", "unpack it again")
            test.append(ImageFile(root / "val" / "images" / name, known[label]))
        return train, test

    _tested = _divided
