"""What may leave a client: one small file per part, and the one codec it travels in.

Fusions name the parts they need, and nothing else is uploaded.
"""

from mooring.uploads.classes import LabelCounts
from mooring.uploads.codec import Limits, decode, decode_tensors, encode, encode_in_pieces, encode_tensors, limits_for
from mooring.uploads.model import Encoder, Prototypes
from mooring.uploads.part import (
    AddsUp,
    Part,
    Parts,
    Tensors,
    UploadFacts,
    expected_of,
    extract,
    reveals_count,
    sentence_in,
    sentences_of,
    wire_name,
)
from mooring.uploads.pieces import Piece, Pieces, one_piece

__all__ = [
    "AddsUp",
    "Encoder",
    "LabelCounts",
    "Limits",
    "Part",
    "Parts",
    "Piece",
    "Pieces",
    "Prototypes",
    "Tensors",
    "UploadFacts",
    "decode",
    "decode_tensors",
    "encode",
    "encode_in_pieces",
    "encode_tensors",
    "expected_of",
    "extract",
    "limits_for",
    "one_piece",
    "reveals_count",
    "sentence_in",
    "sentences_of",
    "wire_name",
]
