"""Noise at a site: from whose secret it is drawn, and what an upload under it may say of itself."""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import blake2b

from nacl.signing import SigningKey

from mooring.client import ClientJob
from mooring.types import Upload
from mooring.uploads import NoisedMoments, Privacy, with_noise_key

PURPOSE = b"mooring noise"


def noised_part(work: ClientJob) -> NoisedMoments | None:
    return next((part for part in work.needs if isinstance(part, NoisedMoments)), None)


def privacy_of(work: ClientJob) -> Privacy | None:
    """What a job grants to every single image, if it does."""
    part = noised_part(work)
    return None if part is None else part.privacy


def figures_of(work: ClientJob) -> Mapping[str, float]:
    """What a manifest says of it; empty where nothing is granted."""
    privacy = privacy_of(work)
    if privacy is None:
        return {}
    return {"epsilon": privacy.epsilon, "delta": privacy.delta, "sigma": privacy.sigma}


def with_noise_of(work: ClientJob, job: str, key: SigningKey) -> ClientJob:
    """The same work, noise drawn from a secret that only this site can compute, for this job alone."""
    secret = blake2b(job.encode(), digest_size=32, key=bytes(key), person=PURPOSE).digest()
    return replace(work, needs=with_noise_key(work.needs, secret))


def under_noise(work: ClientJob, upload: Upload) -> Upload:
    """The upload without what noise does not cover: the number of images is the one that its own counts tell."""
    part = noised_part(work)
    return upload if part is None else replace(upload, samples=part.samples(upload.tensors))
