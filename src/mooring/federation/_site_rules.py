"""What a site decides for itself, whatever a job asks: its terms, and the keys of others that it has compared."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mooring.errors import FederationError
from mooring.federation._job_file import JobFile, JobSite
from mooring.federation._keys import fingerprint
from mooring.federation._manifests import SITE
from mooring.federation._secure_job import same_keys
from mooring.federation._secure_sum import FEWEST
from mooring.record import write_atomically
from mooring.uploads import ascii_repr

PINS = "pins.json"
COORDINATOR = "coordinator"  # a name to pin, besides those of sites
SHORTEST = 16  # hexadecimal digits: a fingerprint
LONGEST = 64  # a whole key
Overlap = Literal["warn", "stop"]


@dataclass(frozen=True)
class SiteRules:
    """The terms of a site: options of `mooring train` and `reveal-masks`, settings of a Flower node."""

    accept_disclosure: bool = False  # send sums from which images can be rebuilt
    least_sites: int = FEWEST  # of a secure sum, with different keys
    overlap: Overlap = "warn"  # what to do if a secure sum and an earlier one reveal single sites together

    def __post_init__(self) -> None:
        if self.least_sites < FEWEST:
            raise FederationError(
                f"least sites {self.least_sites}: a secure sum over fewer than {FEWEST} sites hides nothing",
                f"write {FEWEST} or more",
            )


USUAL_RULES = SiteRules()


@dataclass(frozen=True)
class SumMember:
    """A site of a secure sum, as people compare it."""

    site: str
    fingerprint: str
    pinned: bool


def read_pins(home: Path) -> dict[str, str]:
    """Names and the beginnings of their keys, as this account has compared them."""
    path = home / PINS
    if not path.exists():
        return {}
    try:
        pins = json.loads(path.read_text("utf-8"))
        return {str(name): digits_of(str(name), str(text)) for name, text in pins.items()}
    except (OSError, ValueError, AttributeError, FederationError):
        raise FederationError(f"{path}: cannot be read", "remove it, and pin again with mooring keys --pin") from None


def write_pins(home: Path, new: Mapping[str, str]) -> dict[str, str]:
    """Add pins, or replace those of the same names."""
    pins = read_pins(home) | {name: digits_of(name, text) for name, text in new.items()}
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_atomically(home / PINS, json.dumps(pins, indent=1, sort_keys=True).encode() + b"\n")
    return pins


def digits_of(name: str, text: str) -> str:
    """A key or its beginning, of at least a fingerprint."""
    digits = text.replace("-", "").lower()
    if not SITE.fullmatch(name):
        raise FederationError(f"--pin {ascii_repr(name)}: is not a valid site name", "write --pin north=KEY")
    if not SHORTEST <= len(digits) <= LONGEST or set(digits) - set("0123456789abcdef"):
        raise FederationError(
            f"--pin {name}={ascii_repr(text)}: is neither a key nor a fingerprint",
            "ask the site what `mooring keys` shows there",
        )
    return digits


def reject_unpinned_keys(job: JobFile, home: Path) -> None:
    """Stop if the job has another key for a name than the one that this account has pinned."""
    keys = {COORDINATOR: job.coordinator, **{site.name: site.key for site in job.manifest.sites if site.key}}
    for name, pin in read_pins(home).items():
        key = keys.get(name)
        if key is not None and not key.startswith(pin):
            raise FederationError(
                f"{name}: the job has the key {fingerprint(key)}, and you pinned {fingerprint(pin)}",
                f"ask {name} for its fingerprint by telephone; if it has a new key, mooring keys --pin {name}=KEY",
            )


def sum_members(job: JobFile, home: Path) -> tuple[SumMember, ...]:
    """Whose numbers a secure sum adds up; empty for other jobs."""
    if job.manifest.secure is None:
        return ()
    pins = read_pins(home)
    return tuple(SumMember(site.name, fingerprint(site.key or ""), site.name in pins) for site in job.manifest.sites)


def key_warnings(sites: Sequence[JobSite], coordinator: str) -> tuple[str, ...]:
    """Keys of a job that belong to more than one name."""
    groups = same_keys({COORDINATOR: coordinator, **{site.name: site.key for site in sites}})
    return tuple(f"{' and '.join(names)} have the same key: one account controls all of them" for names in groups)


def reject_few_keys(job: JobFile, least: int) -> None:
    """A secure sum hides a site among sites with different keys; one holder of several keys is one site."""
    different = len({site.key for site in job.manifest.sites})
    if job.manifest.secure is not None and different < least:
        raise FederationError(
            f"secure sum: {len(job.manifest.sites)} sites with {different} different keys, and it takes {least}",
            "ask the coordinator for a job with more sites, each with its own key",
        )
