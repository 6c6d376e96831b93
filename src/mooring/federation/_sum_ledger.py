"""The secure sums that a site took part in: what two of them reveal together, and one masked file per job and key."""

import os
from collections.abc import Collection, Sequence
from hashlib import sha256
from itertools import chain, combinations
from pathlib import Path

import torch

from mooring.data import ImageSet
from mooring.errors import FederationError
from mooring.federation._job_file import JobFile
from mooring.federation._keys import Identity, fingerprint
from mooring.federation._log import Entry, Log, SumRecord
from mooring.federation._secure_sum import FEWEST
from mooring.federation._site_rules import SiteRules

ONCE = "and its numbers may be masked only once"


def record_of(job: JobFile, without: Sequence[str] = (), images: str = "") -> SumRecord:
    """The sum over all sites of the job, or over those that are left."""
    return SumRecord(tuple(sorted(site.key or "" for site in job.manifest.sites if site.name not in without)), images)


def images_digest(shard: ImageSet) -> str:
    """SHA-256 of the images in any order."""
    return sha256(b"".join(sorted(shard.image_digests()))).hexdigest()


def overlaps(job: JobFile, sum_: SumRecord, earlier: Sequence[Entry]) -> tuple[str, ...]:
    """Earlier sums that reveal few sites, or changes at them, together with this one."""
    names = {site.key: site.name for site in job.manifest.sites}
    found: dict[str, None] = {}
    sums = [entry.sum.keys for entry in earlier if entry.sum is not None and entry.job != job.sha256]
    for entry in earlier:
        if entry.sum is None or entry.job == job.sha256:
            continue
        apart = sorted(names.get(key) or fingerprint(key) for key in {*entry.sum.keys} ^ {*sum_.keys})
        where = f"this site took part in a secure sum on {entry.at[:10]} (job {entry.job[:8]})"
        if not apart:
            found[f"{where} of the same sites: together they reveal what has changed since"] = None
        elif len(apart) < FEWEST:
            found[f"{where} that differs by {' and '.join(apart)} only: together they reveal numbers of so few"] = None
        elif sum_.images and entry.sum.images == sum_.images:
            found[f"{where} with the same images: together they reveal the sum of {', '.join(apart)}"] = None
    alone = () if found else isolated(sums, sum_.keys)
    if alone:
        few = " and ".join(sorted(names.get(key) or fingerprint(key) for key in alone))
        before = f"with the {len(set(sums))} secure sums that this site took part in before"
        found[f"{before}, this one reveals numbers of {few}"] = None
    return tuple(found)


def isolated(earlier: Sequence[Collection[str]], new: Collection[str]) -> tuple[str, ...]:
    """The fewest sites, below FEWEST, of which a combination of these sums tells the numbers; only with the new sum.

    With a row of M for each sum and a column for each site, a combination of sums that is zero outside of the sites T
    and not within them exists where  rank M without the columns T < rank M.
    """
    sums = list(dict.fromkeys(frozenset(keys) for keys in earlier))
    sites = sorted(frozenset(new).union(*sums))
    rows = torch.tensor([[site in keys for site in sites] for keys in (*sums, new)], dtype=torch.float64)

    def tells(matrix: torch.Tensor, without: tuple[int, ...]) -> bool:
        left = [column for column in range(len(sites)) if column not in without]
        return bool(torch.linalg.matrix_rank(matrix[:, left]) < torch.linalg.matrix_rank(matrix))

    for few in chain.from_iterable(combinations(range(len(sites)), size) for size in range(1, FEWEST)):
        if tells(rows, few) and not (sums and tells(rows[:-1], few)):
            return tuple(sites[column] for column in few)
    return ()


def reject_overlaps(warnings: Sequence[str], rules: SiteRules) -> None:
    """Stop if this site's rules say so."""
    if warnings and rules.overlap == "stop":
        raise FederationError("; ".join(warnings), "ask the coordinator why, or train with --overlap warn")


def reject_second_mask(job: JobFile, site: str, identity: Identity, log: Log) -> None:
    """Two files under one mask would tell the difference of what they hold."""
    made = any((entry.action, entry.job, entry.who) == ("trained", job.sha256, site) for entry in log.entries())
    if job.manifest.secure is not None and (made or claim_of(job, identity, log).exists()):
        raise FederationError(f"site {site}: has trained for this job, {ONCE}", "ask for a new job")


def claim_mask(job: JobFile, site: str, identity: Identity, log: Log) -> None:
    """From now on, no other file is masked for this job with this key: one process alone creates the claim."""
    if job.manifest.secure is None:
        return
    try:
        os.close(os.open(claim_of(job, identity, log), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise FederationError(
            f"site {site}: another mooring train was faster for this job, {ONCE}", "send the file of that one"
        ) from None


def claim_of(job: JobFile, identity: Identity, log: Log) -> Path:
    """An empty file for a job and a key, in one place for all homes of a user, where a copied key is found too."""
    name = sha256(f"{job.sha256}{identity.public}".encode()).hexdigest()
    for place in (state_of_user, lambda: log.home / "masked"):  # the second, where a user has no place to write
        try:
            folder = place()
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except (OSError, RuntimeError):
            continue
        if os.access(folder, os.W_OK):
            return folder / name
    raise FederationError(f"{log.home}: cannot be written", "free some space, or set MOORING_HOME to another folder")


def state_of_user() -> Path:
    """Where programs of a user keep what must outlast them."""
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Local") / "mooring" / "masked"
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "mooring" / "masked"
