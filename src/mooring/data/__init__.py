"""Images, the sources they come from, how they are divided among clients, and how they are augmented."""

from mooring.data._augment import Augment
from mooring.data._catalogue import SOURCES, list_sources
from mooring.data._clients import Federation, federate, stratified_split
from mooring.data._digits import Digits
from mooring.data._fashion_mnist import FashionMnist
from mooring.data._file_images import FileImages, Images, in_memory, select_images
from mooring.data._image_bytes import ImageBytes, PictureFile
from mooring.data._image_folder import ImageFolder
from mooring.data._image_tree import ImageFile, images_below, reading_progress, subfolders, with_progress
from mooring.data._images import ImageSet, Source, batch_slices, batches
from mooring.data._limits import MAX_PIXELS
from mooring.data._locate import Download, Remote, data_root
from mooring.data._memory import Chooser, HeldImages, InMemory, as_source, hold
from mooring.data._partition import PARTITIONERS, Dirichlet, Iid, Partition, Partitioner, Sites, export_partition
from mooring.data._pixels import SUFFIXES, PictureFacts, PixelReading, decode_image, picture_facts, require_decoders
from mooring.data._similarity import SIDE as COPY_SIDE
from mooring.data._similarity import Copy, joined, near_copies
from mooring.data._sites import ClassFolder, InMemorySite, Site, SiteFolder

__all__ = [
    "COPY_SIDE",
    "MAX_PIXELS",
    "PARTITIONERS",
    "SOURCES",
    "SUFFIXES",
    "Augment",
    "Chooser",
    "ClassFolder",
    "Copy",
    "Digits",
    "Dirichlet",
    "Download",
    "FashionMnist",
    "Federation",
    "FileImages",
    "HeldImages",
    "Iid",
    "ImageBytes",
    "ImageFile",
    "ImageFolder",
    "ImageSet",
    "Images",
    "InMemory",
    "InMemorySite",
    "Partition",
    "Partitioner",
    "PictureFacts",
    "PictureFile",
    "PixelReading",
    "Remote",
    "Site",
    "SiteFolder",
    "Sites",
    "Source",
    "as_source",
    "batch_slices",
    "batches",
    "data_root",
    "decode_image",
    "export_partition",
    "federate",
    "hold",
    "images_below",
    "in_memory",
    "joined",
    "list_sources",
    "near_copies",
    "picture_facts",
    "reading_progress",
    "require_decoders",
    "select_images",
    "stratified_split",
    "subfolders",
    "with_progress",
]
