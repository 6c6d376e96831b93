"""How much a request may ask of the server, and how a request that asks for more is rejected."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ServingLimits:
    """Checked before an image is decoded."""

    bytes: int = 20 * 2**20  # of one image
    pixels: int = 50_000_000  # of one image, decoded: about 200 MB
    waiting: int = 16  # images that are received, wait or are scored
    seconds: float = 30.0  # for the bytes of one image to arrive


@dataclass
class RefusedRequest(Exception):  # noqa: N818
    """What is wrong with a request, and what to send instead."""

    status: int
    problem: str
    remedy: str = ""
