"""Images, the sources they come from, how they are divided among clients, and how they are augmented."""

from mooring.data._augment import Augment
from mooring.data._catalogue import SOURCES, survey
from mooring.data._clients import Federation, federate, stratified
from mooring.data._digits import Digits
from mooring.data._fashion_mnist import FashionMnist
from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import images_below, reading_progress, subfolders, with_progress
from mooring.data._images import ImageSet, Source, batches
from mooring.data._locate import Download, Remote, data_root
from mooring.data._partition import PARTITIONERS, Dirichlet, Iid, Partition, Partitioner, Sites, export
from mooring.data._pixels import SUFFIXES, Reading, decode_image, require_decoders
from mooring.data._sites import ClassFolder, InMemorySite, Site, SiteFolder

__all__ = [
    "PARTITIONERS",
    "SOURCES",
    "SUFFIXES",
    "Augment",
    "ClassFolder",
    "Digits",
    "Dirichlet",
    "Download",
    "FashionMnist",
    "Federation",
    "Iid",
    "ImageFolder",
    "ImageSet",
    "InMemorySite",
    "Partition",
    "Partitioner",
    "Reading",
    "Remote",
    "Site",
    "SiteFolder",
    "Sites",
    "Source",
    "batches",
    "data_root",
    "decode_image",
    "export",
    "federate",
    "images_below",
    "reading_progress",
    "require_decoders",
    "stratified",
    "subfolders",
    "survey",
    "with_progress",
]
