"""A secure sum without a site that never answered: every other site reveals its masks with it, for this job alone.

Whoever holds these files and the missing site's own upload could read that upload: so a recovery is sealed for the
coordinator, and a site makes one only if it believes that the missing one has not sent its file.
"""

from collections.abc import Sequence
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey

from mooring.errors import FederationError
from mooring.federation._container import FileLimits, decode_container, encode, is_key, load_bytes, write_container
from mooring.federation._job_file import JobFile
from mooring.federation._keys import Identity
from mooring.federation._log import Entry, Log
from mooring.federation._secure_job import summing
from mooring.federation._secure_sum import reveal
from mooring.federation._site_rules import USUAL_RULES, SiteRules, reject_unpinned_keys
from mooring.federation._sum_ledger import overlaps, record_of, reject_overlaps
from mooring.schema import canonical_json
from mooring.uploads import ascii_repr, parse_json_object

KIND = "recovery"
LIMITS = FileLimits(2**22, 2**22)
RevealedSeeds = dict[
    tuple[str, str], bytes
]  # (site that reveals, site that is missing) -> what their masks are drawn from


def write_recovery(
    job: JobFile,
    site: str,
    missing: Sequence[str],
    identity: Identity,
    log: Log,
    out: Path,
    rules: SiteRules = USUAL_RULES,
) -> tuple[str, ...]:
    """What this site reveals, signed, in a box for the coordinator; and a line in its log. Returns warnings."""
    number = job.number_of(site)
    if job.manifest.secure is None:
        raise FederationError("this job has no secure sum: nothing is masked", "fuse the files that are there")
    if job.manifest.sites[number].key != identity.public:
        raise FederationError(f"site {site}: the job names another key", "use the account that trained")
    for other in missing:
        if job.number_of(other) == number:
            raise FederationError(f"--missing {other}: is this site itself", "name the sites that have not answered")
    reject_unpinned_keys(job, log.home)
    earlier = log.entries()
    gone = {*missing, *revealed_before(job, site, earlier)}
    left = record_of(job, tuple(gone))
    if len(set(left.keys)) < rules.least_sites:
        raise FederationError(
            f"--missing {','.join(sorted(gone))}: leaves {len(set(left.keys))} of {len(job.site_names)} sites in the "
            f"sum, and it takes {rules.least_sites}: a sum over fewer reveals single sites",
            "wait for the missing sites, or ask the coordinator for a new job",
        )
    warnings = overlaps(job, left, earlier)
    reject_overlaps(warnings, rules)
    found = reveal(summing(job), site, list(missing), identity.key)
    seeds = canonical_json({other: seed.hex() for (_, other), seed in found.items()})
    box = SealedBox(VerifyKey(bytes.fromhex(job.coordinator)).to_curve25519_public_key())
    header = {"job": job.sha256, "site": site, "missing": sorted(missing)}
    words = f"masks with {', '.join(missing)}, who did not answer"
    log.note("revealed", job.sha256, who=site, words=words, sum_=left)  # first: what is revealed counts from now on
    write_container(out, encode(KIND, header, box.encrypt(seeds.encode()), identity.key))
    return warnings


def revealed_before(job: JobFile, site: str, earlier: Sequence[Entry]) -> set[str]:
    """Sites of this job whose masks this site has revealed already."""
    sums = [entry.sum for entry in earlier if (entry.action, entry.job, entry.who) == ("revealed", job.sha256, site)]
    return {named.name for named in job.manifest.sites for sum_ in sums if sum_ and named.key not in sum_.keys}


def read_recoveries(job: JobFile, paths: Sequence[Path], key: SigningKey) -> tuple[RevealedSeeds, list[Path]]:
    """What recovery files among these reveal, and the other files."""
    recoveries = [path for path in paths if is_recovery(path)] if job.manifest.secure is not None else []
    seeds: RevealedSeeds = {}
    for path in recoveries:
        seeds |= open_recovery(job, path, key)
    return seeds, [path for path in paths if path not in recoveries]


def is_recovery(path: Path) -> bool:
    try:
        return decode_container(load_bytes(path, LIMITS), KIND, LIMITS, str(path)).kind == KIND
    except FederationError:
        return False


def open_recovery(job: JobFile, path: Path, key: SigningKey) -> RevealedSeeds:
    held = decode_container(load_bytes(path, LIMITS), KIND, LIMITS, str(path))
    site, keys = held.manifest.get("site"), {named.name: named.key for named in job.manifest.sites}
    if held.manifest.get("job") != job.sha256 or not isinstance(site, str) or keys.get(site) != held.signer:
        raise FederationError(f"{path}: is not a recovery file of a site of this job", "ask the sites for theirs")
    try:
        seeds = parse_json_object(
            SealedBox(key.to_curve25519_private_key()).decrypt(bytes(held.payload)).decode("ascii")
        )
    except (CryptoError, ValueError):
        raise FederationError(f"{path}: its seal cannot be opened", "open it where the job was planned") from None
    for other, seed in seeds.items():
        if other not in keys or not is_key(seed):
            raise FederationError(
                f"{path}: reveals {ascii_repr(other)}, which is nothing of this job", "ask for another"
            )
    return {(site, other): bytes.fromhex(seed) for other, seed in seeds.items()}
