"""The seam between a run and its sites is real: another engine, in other processes, with no common data, same bytes."""

from hashlib import sha256

import numpy as np
import pytest
from site_engine import FolderEngine, FolderSite

from mooring import load
from mooring.engines import Local
from mooring.events import silent
from mooring.execution import prepare
from mooring.uploads._codec import encode

SMALL = ("data.limit=240", "partition.clients=2", "training.rounds=2", "training.local_epochs=1")


@pytest.fixture
def lay(tmp_path):
    """The federation as it would lie on the disks of its sites: to each a folder with its own images alone."""

    def lay(federation):
        for site in federation.sites():
            own = site.shard()
            folder = tmp_path / f"site-{site.number}"
            folder.mkdir()
            images, labels = own.images.numpy(), own.labels.numpy()
            np.savez(folder / "images.npz", images=images, labels=labels, classes=np.array(own.classes))
            yield FolderSite(site.name, site.number, folder)

    return lay


def collected(engine, job, sites):
    """Client and round -> what the upload weighs in bytes, by hash."""
    uploads = engine.collect(job, sites, silent)
    return {(upload.client, upload.round): sha256(encode(upload)).hexdigest() for upload in uploads}


@pytest.mark.parametrize("method", ["v7", "afl"])
def test_a_process_per_site_with_that_sites_files_alone_gives_the_local_engines_bytes(method, lay):
    [experiment] = load(overrides=[f"method={method}", *SMALL])
    federation, job = prepare(experiment)
    apart = collected(FolderEngine(), job, list(lay(federation)))
    assert list(apart) == [(client, round_) for client in (0, 1) for round_ in job.kept()]
    assert collected(Local(workers=1), job, federation.sites()) == apart
