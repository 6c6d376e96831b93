"""A small federation on disk: the digits as image folders, three sites with unequal classes, one home for each."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from PIL import Image

from mooring.config import load
from mooring.data._digits import Digits
from mooring.federation._coordinator import Coordinator
from mooring.federation._fuse import Terms
from mooring.federation._job_file import JobFile, read_job
from mooring.federation._keys import Identity, own_identity
from mooring.federation._log import Log
from mooring.federation._plan import plan
from mooring.federation._site_rules import SiteRules
from mooring.federation._train import approve, folder_of, train

CLASSES = ("eight", "five", "one", "three")  # sorted, as folders are
DIGIT = {"eight": 8, "five": 5, "one": 1, "three": 3}
IMAGES = {"north": (14, 6, 20, 9), "south": (7, 16, 0, 12), "east": (9, 8, 11, 0)}
CHEAP = ("data.size=16", "data.channels=1", "encoder.filters=8")  # 64 features
ACCEPTS = SiteRules(accept_disclosure=True)  # there are few images here
JOB_WORDS = ("data.source=image_folder", "training.snapshots=last")


def write_sites(root: Path, sites=IMAGES, classes=CLASSES, side: int = 64) -> Path:
    """root/<site>/<class>/*.png, no image at two sites."""
    digits = Digits().train()
    labels = digits.labels.numpy()
    taken = dict.fromkeys(classes, 0)
    for site, counts in sites.items():
        for label, count in zip(classes, counts, strict=True):
            own = np.flatnonzero(labels == DIGIT[label])[taken[label] : taken[label] + count]
            taken[label] += count
            folder = root / site / label
            if count:
                folder.mkdir(parents=True)
            for i in own.tolist():
                picture = Image.fromarray(digits.images[i, 0].numpy()).resize((side, side), Image.Resampling.BICUBIC)
                picture.save(folder / f"{i:04d}.png")
    return root


@dataclass
class Federated:
    """Everybody's folder in one place: what a test needs to play all parts."""

    root: Path
    sites: tuple[str, ...] = tuple(IMAGES)
    words: tuple[str, ...] = ("method=mooring", *CHEAP)
    named_keys: bool = True
    job_path: Path = field(init=False)

    def __post_init__(self) -> None:
        self.job_path = self.root / "job.mooring"
        self.job_path.write_bytes(self.planned())

    def planned(self, **asked) -> bytes:
        (experiment,) = load(None, [*JOB_WORDS, *self.words])
        keys = {site: self.identity(site).public for site in self.sites} if self.named_keys else {}
        usual = {"keys": keys, "minimum": 5}
        return plan(experiment, CLASSES, self.sites, self.coordinator.identity, **(usual | asked))[0]

    @cached_property
    def job(self) -> JobFile:
        return read_job(self.job_path)

    @property
    def coordinator(self) -> Coordinator:
        return Coordinator(own_identity(self.root / "home"), Log(self.root / "home"))

    def identity(self, site: str) -> Identity:
        return own_identity(self.root / f"home-{site}")

    def log(self, site: str) -> Log:
        return Log(self.root / f"home-{site}")

    def data(self, site: str) -> Path:
        return self.root / "images" / site

    def train(self, site: str, job: JobFile | None = None, name: str = "", mapping=None, **asked) -> Path:
        job, out = job or self.job, self.root / (name or f"{site}.mooring")
        approve(job, self.log(site), asked.get("now"))
        place = folder_of(job, site, self.data(site), mapping)
        asked = {"rules": ACCEPTS} | asked
        return train(job, place, out, self.identity(site), self.log(site), **asked).path

    def fuse(self, *paths: Path, out: str = "model.mooring", terms: Terms = Terms()):
        return self.coordinator.fuse(self.job_path, paths, self.root / out, terms)

    def into(self, model: Path, *paths: Path, out: str = "model.mooring", terms: Terms = Terms()):
        return self.coordinator.fuse_into(model, paths, self.root / out, terms)
