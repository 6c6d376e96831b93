"""Jobs whose sites send numbers that can only be added up: from a job to what `secure_sum` needs, and back to a sum."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from nacl.signing import SigningKey
from torch import Tensor

from mooring.client import ClientJob
from mooring.errors import FederationError
from mooring.federation._job_file import JobFile, SecurePlan
from mooring.federation._rules import largest_feature
from mooring.federation._secure_sum import FEWEST, MaskSeeds, SecureSum, fraction_bits, mask, plausible, unmask
from mooring.federation._upload_file import UploadFile
from mooring.types import Upload
from mooring.uploads import Moments, NoisedMoments

EVERYBODY = "all sites"


def plan_of(work: ClientJob, images: int, keys: Mapping[str, str], sites: int) -> SecurePlan:
    """How large features may be, and how many images all sites have at most: what decides the fixed point."""
    if len(keys) < sites or sites < FEWEST:
        raise FederationError(
            f"--secure-sum: {len(keys)} of {sites} sites have a key, and it takes all of them, at least {FEWEST}",
            "name the key of every site, --key SITE=KEY",
        )
    for group in same_keys(keys):
        raise FederationError(
            f"--secure-sum: {' and '.join(group)} have the same key: one account would speak for all of them",
            "ask every site what `mooring keys` shows there",
        )
    part = moments_in(work)
    plan = SecurePlan(images, largest_feature(part.map, work.blueprint))
    fraction_bits(part, work.blueprint, plan.bound, plan.images)  # rejects more than 64 bits hold
    return plan


def same_keys(keys: Mapping[str, str | None]) -> list[list[str]]:
    """Names that have one key, in groups of two or more."""
    groups: dict[str, list[str]] = {}
    for name, key in keys.items():
        groups.setdefault(key or name, []).append(name)
    return [names for names in groups.values() if len(names) > 1]


def moments_in(work: ClientJob) -> Moments:
    """The one part that the method uploads; masks cancel in sums, and in nothing else."""
    if any(isinstance(part, NoisedMoments) for part in work.needs):
        raise FederationError("--secure-sum: is not combined with --epsilon", "choose one of them")
    found = [part for part in work.needs if isinstance(part, Moments)]
    if len(found) != 1 or len(work.needs) != 1:
        raise FederationError("--secure-sum: this method uploads more than sums of features", "use --method mooring")
    return found[0]


def summing(job: JobFile) -> SecureSum:
    """The same at every site and at the coordinator: all of it follows from the job."""
    secure, work = job.manifest.secure, job.work
    assert secure is not None, "asked of a secure job alone"
    bits = fraction_bits(moments_in(work), work.blueprint, secure.bound, secure.images)
    return SecureSum(job.sha256, {site.name: site.key or "" for site in job.manifest.sites}, bits)


def masked(job: JobFile, upload: Upload, site: str, key: SigningKey) -> Upload:
    """What this site may send: random words; the number of its images is not sent either."""
    return replace(upload, tensors=mask(upload.tensors, summing(job), site, key), samples=0)


def misshapen(job: JobFile, tensors: Mapping[str, Tensor]) -> str | None:
    """The first tensor that is not what every site of a secure job sends."""
    for name, wanted in job.wire.items():
        given = tensors.get(name)
        if given is None or given.shape != wanted.shape or given.dtype != wanted.dtype:
            return f"tensor {name!r} is not the masked one that was asked for"
    return None


def total_of(job: JobFile, files: Sequence[UploadFile], revealed: MaskSeeds | None = None) -> Upload:
    """The sum over all sites of the job as one upload, in float64: what the wire rounds is not rounded twice.

    Without a site where all others have revealed their masks with it.
    """
    secure, part = job.manifest.secure, moments_in(job.work)
    assert secure is not None, "asked of a secure job alone"
    total = unmask({file.manifest.site: file.upload.tensors for file in files}, summing(job), revealed)
    counts_name = next(iter(total))
    tensors = {name: tensor.round().long() if name == counts_name else tensor for name, tensor in total.items()}
    samples = int(tensors[counts_name].sum())
    for problem in plausible(part, total, secure.bound, secure.images):
        raise FederationError(f"secure sum: {problem}", "one of the sites sent something else than sums of its images")
    return Upload(0, job.work.kept()[-1], samples, tensors, EVERYBODY, job.work.sha256)
