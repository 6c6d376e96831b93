"""A small model of the digits, without training, and image files to ask it about."""

from dataclasses import replace
from pathlib import Path

import torch
from PIL import Image
from untrained import PLAN, upload_of

from mooring.data._digits import Digits
from mooring.data._pixels import PixelReading
from mooring.federation._model_file import ModelFile, Provenance, SiteShare
from mooring.fusion import LinearHeadFusion, fuse, typical_of
from mooring.fusion._base import Server
from mooring.models._feature_maps import RandomFilters

HEAD = LinearHeadFusion(RandomFilters(16))
BLUEPRINT = replace(PLAN, classes=("one", "seven", "zero"))
DIGIT = {"one": 1, "seven": 7, "zero": 0}
TOLD = Provenance(
    origin="federation",
    method="mooring",
    fusion="linear-head",
    track="statistics only",
    job_sha256="ab" * 32,
    seed=1,
    sites=(
        SiteShare("Nord | <b>", True, 60, 0.6, "cd" * 32),
        SiteShare("south", True, 40, 0.4, "ef" * 32),
        SiteShare("east", False, 30, reason="set aside: its moments are those of no images"),
    ),
    images_per_class=(40, 30, 30),
    protections=("differential privacy: epsilon 3",),
    reading=PixelReading("pad", (0.0, 4095.0)),
    versions={"mooring": "0.2.0"},
)


def three_digits(first=0, each=30):
    """Images of three digits, labelled 0 to 2 in the order of the classes."""
    digits = Digits().train()
    chosen = [(digits.labels == DIGIT[name]).nonzero()[first : first + each, 0] for name in BLUEPRINT.classes]
    labels = torch.arange(3).repeat_interleave(each)
    return replace(digits.select(torch.cat(chosen)), labels=labels, classes=BLUEPRINT.classes)


def predictor_of(rule=HEAD, blueprint=BLUEPRINT, shards=None, **server):
    uploads = uploads_of(rule, blueprint, shards)
    predictor = fuse(rule, uploads, Server(blueprint, **server))
    predictor.typical = typical_of(rule.needs, uploads)
    return predictor


def uploads_of(rule=HEAD, blueprint=BLUEPRINT, shards=None):
    shards = shards or [three_digits(), three_digits(30)]
    return [upload_of(blueprint, shard, k, rule.needs) for k, shard in enumerate(shards)]


def model(provenance=Provenance(), **kept) -> ModelFile:
    return ModelFile(predictor_of(), provenance, **kept)


def write_held_out(root: Path, sites=("north", "south"), each=5) -> Path:
    """root/<site>/<class>/*.png, of images that the model has not seen."""
    shard = three_digits(80, each * len(sites))
    for i, label in enumerate(shard.labels.tolist()):
        folder = root / sites[i % len(sites)] / BLUEPRINT.classes[label]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray(shard.images[i, 0].numpy()).save(folder / f"{i}.png")
    return root
