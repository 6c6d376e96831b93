"""What may leave a client: one small file per part, and the one codec it travels in.

Fusions name the parts they need, and nothing else is uploaded.
"""

from mooring.uploads.classes import LabelCounts
from mooring.uploads.codec import Limits, decode, decode_tensors, encode, encode_tensors, limits_for
from mooring.uploads.model import Encoder, Prototypes
from mooring.uploads.part import AddsUp, Part, Parts, Tensors, UploadFacts, expected_of, extract, wire_name

__all__ = [
    "AddsUp",
    "Encoder",
    "LabelCounts",
    "Limits",
    "Part",
    "Parts",
    "Prototypes",
    "Tensors",
    "UploadFacts",
    "decode",
    "decode_tensors",
    "encode",
    "encode_tensors",
    "expected_of",
    "extract",
    "limits_for",
    "wire_name",
]
