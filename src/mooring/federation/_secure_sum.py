"""A sum that can be read, of numbers that cannot: pairwise masks in fixed point, modulo 2^64 (Bonawitz et al. 2017).

Site a sends  round(x_a 2^f) + sum over b after a of mask_ab - sum over b before a of mask_ab  (mod 2^64). Both ends of
a pair draw the same mask from a key that they alone agree on (X25519 between the keys that the job names), anew for
every job and tensor. All masks cancel in the sum over all sites that the job names, and in no other: a file of one site
is random numbers to whoever reads it.

Masks are drawn once: two files of one site for one job, with other numbers, would tell the difference of these numbers.
Deviations: keys stand in the job, so nothing has to be exchanged; there is no second mask, so that what sites reveal of
a missing one would open its file too, if somebody has it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, log2

import torch
from nacl.bindings import crypto_scalarmult
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey, VerifyKey
from torch import Tensor

from mooring.errors import FederationError
from mooring.models import Blueprint
from mooring.uploads import Moments, Tensors, stream_words

BITS = 62  # of a word: the sum of all sites stays below 2^62, so that its sign is never in doubt
FEWEST = 3  # of two sites each could take its own numbers from the sum
PURPOSE = b"mooring sum"

MaskSeeds = Mapping[
    tuple[str, str], bytes
]  # (site that reveals, site that is missing) -> what their masks are drawn from


@dataclass(frozen=True)
class SecureSum:
    """Who adds up what: the same at every site and at the coordinator."""

    job: str  # SHA-256
    keys: Mapping[str, str]  # the public key of every site, by its name
    bits: Mapping[str, int]  # f of every tensor: numbers are multiples of 2^-f

    @property
    def step(self) -> dict[str, float]:
        """How far the sum may be off: half a step 2^-f for every site; whole numbers are not rounded."""
        return {name: len(self.keys) * 2.0 ** -(f + 1) for name, f in self.bits.items()}


def fraction_bits(part: Moments, blueprint: Blueprint, bound: float, images: int) -> dict[str, int]:
    """f of counts, sums and second moments for so many images at all sites together, and no |feature| above `bound`.

    n bound 2^f and n bound^2 2^f stay below 2^62; counts stay whole.
    """
    largest = [images, images * max(1.0, bound), images * max(1.0, bound) ** 2]
    bits = [0, *(BITS - ceil(log2(most)) for most in largest[1:])]
    if min(bits) < 0:
        raise FederationError(
            f"secure sum: {images:,} images with features up to {bound:.3g} do not fit into 64 bits",
            "name fewer images or another feature map",
        )
    return dict(zip(part.expected(blueprint), bits, strict=True))


def mask(tensors: Tensors, plan: SecureSum, site: str, key: SigningKey) -> dict[str, Tensor]:
    """What this site may send: int64 words, random to everybody else."""
    if len(plan.keys) < FEWEST:
        raise FederationError(
            f"secure sum: {len(plan.keys)} sites with keys, and it takes {FEWEST}", "name more sites with their keys"
        )
    if plan.keys.get(site) != bytes(key.verify_key).hex():
        raise FederationError(f"secure sum: the job names another key for {site!r}", "send the coordinator your key")
    masked = {name: fixed(name, tensor, plan) for name, tensor in tensors.items()}
    for other in plan.keys:
        if other != site:
            seed = seed_of(plan, site, other, key)
            masked = {name: tensor + masked_by(seed, site, other, name, tensor) for name, tensor in masked.items()}
    return masked


def unmask(masked: Mapping[str, Tensors], plan: SecureSum, revealed: MaskSeeds | None = None) -> dict[str, Tensor]:
    """The sum over all sites, in float64; over those that are there, once each has revealed its seeds of the others."""
    missing = sorted(plan.keys.keys() - masked.keys())
    seeds = dict(revealed or {})
    lacking = [(site, other) for other in missing for site in sorted(masked) if (site, other) not in seeds]
    if masked.keys() - plan.keys.keys() or not masked:
        raise FederationError("secure sum: files of sites that the job does not name", "leave them out")
    if len(masked) < FEWEST:
        raise FederationError(
            f"secure sum: {', '.join(missing)} missing; {len(masked)} of {len(plan.keys)} sites are left, and it takes "
            f"{FEWEST}: a sum over fewer reveals single sites",
            "wait for the missing files, or plan a new job",
        )
    if lacking:
        raise FederationError(
            f"secure sum: {', '.join(missing)} missing, and {', '.join(dict.fromkeys(site for site, _ in lacking))}"
            " has not revealed what is needed to go on without",
            "wait for the missing files, or ask the others for a recovery file",
        )
    total: dict[str, Tensor] = {}
    for name, f in plan.bits.items():
        words_of = [misfit(name, tensors) for tensors in masked.values()]
        whole = torch.stack(words_of).sum(0)  # int64 wraps around: modulo 2^64
        for site, other in ((site, other) for other in missing for site in masked):
            whole = whole - masked_by(seeds[site, other], site, other, name, whole)
        if (whole.abs() >= 2**BITS).any() or (whole == torch.iinfo(torch.int64).min).any():
            raise uncancelled(name)
        total[name] = whole.double() * 2.0**-f
    return total


def reveal(plan: SecureSum, site: str, missing: list[str], key: SigningKey) -> dict[tuple[str, str], bytes]:
    """What this site's masks with missing ones are drawn from, for this job alone."""
    return {(site, other): seed_of(plan, site, other, key) for other in missing}


def plausible(part: Moments, total: Tensors, bound: float, images: int) -> Iterator[str]:
    """What is wrong with a sum whose masks did not cancel: it would be random numbers between -2^62 and 2^62."""
    counts, sums, _ = total.values()
    if not ((counts >= 0).all() and counts.sum() <= images):
        yield "its counts are impossible"
    if not (sums.abs() <= counts[:, None] * max(1.0, bound) + 1).all():
        yield "its sums do not fit its counts"


def uncancelled(name: str) -> FederationError:
    return FederationError(
        f"secure sum: the masks of tensor {name!r} do not cancel",
        "a site used another key or answered another job: compare `mooring keys` with the job",
    )


def fixed(name: str, tensor: Tensor, plan: SecureSum) -> Tensor:
    """round(x 2^f); raises an error if the sum over all sites might overflow."""
    scaled = (tensor.double() * 2.0 ** plan.bits[name]).round()
    if not (scaled.abs() < 2**BITS / len(plan.keys)).all():
        raise FederationError(
            f"secure sum: tensor {name!r} holds {tensor.abs().max().item():.3g}, more than the job has room for",
            "ask the coordinator for a job with room for more images",
        )
    return scaled.long()


def misfit(name: str, tensors: Tensors) -> Tensor:
    tensor = tensors.get(name)
    if tensor is None or tensor.dtype != torch.int64:
        raise FederationError(f"secure sum: tensor {name!r} is not masked", "ask the site to train for this job")
    return tensor


def masked_by(seed: bytes, site: str, other: str, name: str, like: Tensor) -> Tensor:
    """The mask of a pair as the first of them adds it, and the second takes it away."""
    mask = stream_words(seed, (name,), tuple(like.shape))
    return mask if site < other else -mask


def seed_of(plan: SecureSum, site: str, other: str, key: SigningKey) -> bytes:
    """BLAKE2b of what X25519 gives both ends of a pair, their keys and the job: for this job and no other."""
    try:
        theirs = VerifyKey(bytes.fromhex(plan.keys[other])).to_curve25519_public_key()
        shared = crypto_scalarmult(bytes(key.to_curve25519_private_key()), bytes(theirs))
    except (CryptoError, RuntimeError, ValueError, TypeError):
        raise FederationError(
            f"secure sum: the key of {other!r} is not a key", "ask the coordinator for a new job"
        ) from None
    pair = "".join(plan.keys[name] for name in sorted((site, other)))
    return blake2b(f"{plan.job}{pair}".encode(), digest_size=32, key=shared, person=PURPOSE).digest()
