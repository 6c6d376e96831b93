"""What may leave a client: one small file per part. Fusions name the parts they need, and nothing else is uploaded."""

from mooring.uploads.label_counts import LabelCounts
from mooring.uploads.model import Encoder, Prototypes
from mooring.uploads.part import Part, Parts, extract

__all__ = ["Encoder", "LabelCounts", "Part", "Parts", "Prototypes", "extract"]
