"""The check of a folder: look at every file once, then apply all rules."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch
from torch import Tensor

from mooring.check._files import CheckedFile, look_at
from mooring.check._findings import CheckedFolder, DataFinding, find
from mooring.check._spelling import propose_spelling
from mooring.check._statistics import SiteStatistics, compared, shared_images, statistics_of
from mooring.data import ImageFolder, joined, near_copies
from mooring.errors import DataError

ONLY = "this site"  # the name of a folder without sites


@dataclass(frozen=True)
class DataCheck:
    """What was found in a folder, or in the statistics of several sites."""

    root: str
    images: int
    held_out: int
    sites: Mapping[str, int]  # images of each
    classes: Mapping[str, int]
    findings: tuple[DataFinding, ...]
    mapping: Mapping[str, str] = field(default_factory=dict)  # folder -> proposed class
    leaked: int = 0  # held-out images with a copy among the training images
    groups: int = 0  # of images that are copies of each other
    statistics: tuple[SiteStatistics, ...] = ()
    thumbnails: Mapping[str, Tensor] = field(default_factory=dict, repr=False, compare=False)  # name -> (3, H, W)

    @property
    def decide(self) -> tuple[DataFinding, ...]:
        return tuple(finding for finding in self.findings if finding.decide)

    @property
    def notes(self) -> tuple[DataFinding, ...]:
        return tuple(finding for finding in self.findings if not finding.decide)

    @property
    def split(self) -> Literal["by-name", "grouped"]:
        """How test images should be chosen."""
        return "grouped" if any(finding.kind == "leakage" for finding in self.decide) else "by-name"


def check_folder(source: ImageFolder, salt: str | None = None) -> DataCheck:
    """Look at all images below `source.root`. Nothing is written."""
    assert source.root is not None, "a folder was named"
    ignored: Counter[str] = Counter()
    train, test = source.files(ignored)
    files = tuple(look_at([*((file, False) for file in train), *((file, True) for file in test)], Path(source.root)))
    counts = Counter(file.label for file in files)
    by_site = [{file.label for file in files if file.site == site} for site in sorted({file.site for file in files})]
    numbers = {label: number for number, label in enumerate(sorted(counts))}
    copies = near_copies(
        [torch.stack([file.pixels for file in files])], torch.tensor([numbers[file.label] for file in files])
    )
    mapping = propose_spelling(counts, by_site)
    folder = CheckedFolder(files, tuple(copies), mapping, ignored)
    findings = tuple(find(folder))
    shown = {name for finding in findings for row in finding.files for name in row}
    owners = Counter(joined(len(files), [(copy.image, copy.of) for copy in copies]))
    return DataCheck(
        source.root,
        len(files),
        folder.held_out,
        dict(sorted(Counter(file.site or ONLY for file in files).items())),
        dict(sorted(counts.items())),
        findings,
        mapping,
        len(folder.leaked),
        sum(size > 1 for size in owners.values()),
        tuple(site_statistics(folder.readable, salt)),
        {file.name: file.pixels for file in files if file.readable and file.name in shown},
    )


def site_statistics(files: Sequence[CheckedFile], salt: str | None) -> Iterator[SiteStatistics]:
    for site in sorted({file.site for file in files}):
        yield statistics_of(site or ONLY, [file for file in files if file.site == site], salt)


def check_sites_together(sites: Sequence[SiteStatistics]) -> DataCheck:
    """The same from the statistics of several sites: no file is opened."""
    names = [site.site for site in sites]
    if len(set(names)) < len(names):
        raise DataError(f"two sites are called {max(names, key=names.count)}", "give each its own name with --site")
    classes: Counter[str] = Counter()
    for site in sites:
        classes.update(site.labels)
    mapping = propose_spelling(classes, [set(site.labels) for site in sites])
    findings = [
        *(DataFinding("duplicate", True, text, "keep them at one site") for text in shared_images(sites)),
        *(DataFinding("shift", False, text, "read the accuracy of each site") for text in compared(sites)),
    ]
    for name, label in mapping.items():
        text = f"folders that may be one class: {name} ({classes[name]:,}) and {label} ({classes[label]:,})"
        findings.insert(0, DataFinding("spelling", True, text, "put data.yaml into the job, or rename the folders"))
    return DataCheck(
        " + ".join(names),
        sum(site.images for site in sites),
        0,
        {site.site: site.images for site in sites},
        dict(sorted(classes.items())),
        tuple(findings),
        mapping,
        statistics=tuple(sites),
    )
