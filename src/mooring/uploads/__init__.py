"""What may leave a client: one small file per part, and the one codec it travels in.

Fusions name the parts they need, and nothing else is uploaded.
"""

from mooring.uploads._classes import CLASS_MEANS, IMAGES_BY_CLASS, LABEL_COUNTS, ClassMeans, LabelCounts
from mooring.uploads._codec import (
    LONGEST,
    Limits,
    ascii_repr,
    decode,
    decode_tensors,
    encode,
    encode_in_pieces,
    encode_tensors,
    header_facts,
    header_of,
    is_line,
    is_size,
    limits_for,
    mapping,
)
from mooring.uploads._embeddings import DEVIATION, MEAN, PROTOTYPE_RESPONSE, EmbeddingMoments, PrototypeResponse
from mooring.uploads._fisher import FISHER, FisherDiagonal
from mooring.uploads._grams import GRAM, Grams
from mooring.uploads._mixtures import Gathered, MixtureCovariance, Mixtures
from mooring.uploads._model import Encoder, Prototypes, network_of, networks_of, rebuild, state_of
from mooring.uploads._moments import BATCH, SECOND_MOMENTS, Moments, Precision, Second, Totals
from mooring.uploads._noised import NoisedMoments, with_key
from mooring.uploads._part import (
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
    together,
    wire_name,
    without_hash,
)
from mooring.uploads._pieces import Piece, Pieces, one_piece
from mooring.uploads._privacy import PRIVACIES, Privacy, gaussian_epsilon
from mooring.uploads._secret_stream import stream_words
from mooring.uploads._triangle import packed_size, unpack

__all__ = [
    "BATCH",
    "CLASS_MEANS",
    "DEVIATION",
    "FISHER",
    "GRAM",
    "IMAGES_BY_CLASS",
    "LABEL_COUNTS",
    "LONGEST",
    "MEAN",
    "PRIVACIES",
    "PROTOTYPE_RESPONSE",
    "SECOND_MOMENTS",
    "AddsUp",
    "ClassMeans",
    "EmbeddingMoments",
    "Encoder",
    "FisherDiagonal",
    "Gathered",
    "Grams",
    "LabelCounts",
    "Limits",
    "MixtureCovariance",
    "Mixtures",
    "Moments",
    "NoisedMoments",
    "Part",
    "Parts",
    "Piece",
    "Pieces",
    "Precision",
    "Privacy",
    "PrototypeResponse",
    "Prototypes",
    "Second",
    "Tensors",
    "Totals",
    "UploadFacts",
    "ascii_repr",
    "decode",
    "decode_tensors",
    "encode",
    "encode_in_pieces",
    "encode_tensors",
    "expected_of",
    "extract",
    "gaussian_epsilon",
    "header_facts",
    "header_of",
    "is_line",
    "is_size",
    "limits_for",
    "mapping",
    "network_of",
    "networks_of",
    "one_piece",
    "packed_size",
    "rebuild",
    "reveals_count",
    "sentence_in",
    "sentences_of",
    "state_of",
    "stream_words",
    "together",
    "unpack",
    "wire_name",
    "with_key",
    "without_hash",
]
