"""An engine of thirty lines: each site is a process of its own, in a folder that holds its own images and no others."""

import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

import mooring
from mooring.client import run_client
from mooring.client._checkpoint import NO_STATES
from mooring.data._images import ImageSet
from mooring.events import silent
from mooring.uploads._codec import decode, encode


@dataclass(frozen=True)
class FolderSite:
    """A site that opens its own file."""

    name: str
    number: int
    folder: Path
    size: ClassVar[None] = None  # nobody knows before it looks

    def shard(self):
        with np.load(self.folder / "images.npz") as file:
            images, labels = torch.from_numpy(file["images"]), torch.from_numpy(file["labels"])
            return ImageSet(images, labels, tuple(file["classes"].tolist()))


@dataclass(frozen=True)
class FolderEngine:
    """The job travels to each folder, uploads travel back; this process opens no image."""

    kind: ClassVar[str] = "folders"

    def collect(self, job, sites, emit, states=NO_STATES):
        environment = {"PYTHONPATH": str(Path(mooring.__file__).parents[1])}
        running = []
        for site in sites:
            (site.folder / "job").write_bytes(pickle.dumps((job, site.name, site.number)))
            running.append(subprocess.Popen([sys.executable, __file__], cwd=site.folder, env=environment))
        for site, process in zip(sites, running, strict=True):
            assert process.wait() == 0
            for file in sorted(site.folder.glob("*.upload")):
                yield decode(file.read_bytes(), job.limits)


if __name__ == "__main__":
    torch.set_num_threads(1)
    job, name, number = pickle.loads(Path("job").read_bytes())
    for upload in run_client(job, FolderSite(name, number, Path()), silent):
        Path(f"round-{upload.round:03d}.upload").write_bytes(encode(upload))
