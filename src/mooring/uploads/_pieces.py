"""Bytes that are produced while they are written, to avoid a second copy of large data in memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256

Piece = bytes | memoryview


@dataclass(frozen=True)
class Pieces:
    """A sequence of bytes of known length, piece by piece, made anew for everyone who goes through it."""

    size: int
    made: Callable[[], Iterator[Piece]] = field(repr=False)

    def __iter__(self) -> Iterator[Piece]:
        return self.made()

    @property
    def sha256(self) -> str:
        content = sha256()
        for piece in self:
            content.update(piece)
        return content.hexdigest()

    def joined(self) -> bytes:
        return b"".join(self)


def as_pieces(data: bytes) -> Pieces:
    """Bytes that are there already, as one piece."""
    return Pieces(len(data), lambda: iter((data,)))
