"""Noise at a site: from whose secret it is drawn, what an upload under it may say, and what all uploads grant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from nacl.signing import SigningKey

from mooring.client import ClientJob
from mooring.federation._log import Entry, Noise
from mooring.types import Upload
from mooring.uploads import NoisedMoments, Privacy, gaussian_epsilon, with_noise_key

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


@dataclass(frozen=True)
class Budget:
    """Epsilon and delta of several uploads, if the same image was behind all of them."""

    uploads: int  # under noise
    bare: int  # without any: for what those tell there is no epsilon
    epsilon: float
    delta: float

    @property
    def sentence(self) -> str:
        """The figures, for people."""
        if not self.uploads:
            return "no upload under noise yet"
        text = f"{upload_count(self.uploads)} under noise: together epsilon {self.epsilon:.3g}, delta {self.delta:g}"
        return f"{text}; and {upload_count(self.bare)} without noise, which no epsilon covers" if self.bare else text


def upload_count(uploads: int) -> str:
    return "1 upload" if uploads == 1 else f"{uploads} uploads"


def together(noises: Sequence[Noise], bare: int = 0) -> Budget:
    """Gaussian noise composes exactly: 1 / sigma^2 = sum_i 1 / sigma_i^2 (Dong, Roth and Su 2022, corollary 2).

    Epsilon is stated for the largest delta of the uploads; it is at most the sum of their epsilons.
    """
    if not noises:
        return Budget(0, bare, 0.0, 0.0)
    delta = max(noise.delta for noise in noises)
    sigma = sum(noise.sigma**-2 for noise in noises) ** -0.5
    return Budget(len(noises), bare, gaussian_epsilon(sigma, delta), delta)


def privacy_spent(entries: Sequence[Entry], next_one: Noise | None = None) -> Budget:
    """Of all that was trained in this home, and of one upload more; the same numbers twice count once."""
    trained = [entry for entry in entries if entry.action == "trained"]
    noises = {entry.noise.numbers: entry.noise for entry in trained if entry.noise is not None}
    more = () if next_one is None else (next_one,)
    return together((*noises.values(), *more), sum(entry.noise is None for entry in trained))
