"""A model for one site: the fused one with the site's own class frequencies. Nothing leaves the site."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from mooring.errors import FederationError
from mooring.federation._image_files import labelled_files
from mooring.federation._model_file import ModelFile, save_model
from mooring.fusion import class_prior, personalise
from mooring.wording import plural


@dataclass(frozen=True)
class PersonalModel:
    """The model of a site, and what it was made from."""

    model: ModelFile
    images: int  # at the site
    classes: int  # of the model that are there
    strength: float  # images of all sites behind the site's class frequencies

    @property
    def words(self) -> str:
        """1,929 images of 6 of 10 classes; all sites count as much as 18 images"""
        own = f"{plural(self.images, 'image')} of {self.classes} of {len(self.model.classes)} classes"
        return f"{own}; all sites count as much as {self.strength:,.2g} images"


def personal_model(model: ModelFile, root: Path) -> PersonalModel:
    """Of the images in root/<class>/: they are counted, not read."""
    counts = Counter(file.label for file in labelled_files(root, model.classes))
    total = torch.tensor(model.provenance.images_per_class)
    if not total.any():
        raise FederationError(
            "this model does not tell how many images of each class it was computed from, so it cannot be personalised",
            "make it without withheld counts and without noise",
        )
    own = torch.tensor([counts[label] for label in range(len(model.classes))])
    method = f"{model.provenance.method}, personalised"
    personal = replace(
        model,
        predictor=personalise(model.predictor, own, total),
        provenance=replace(model.provenance, method=method),
    )
    return PersonalModel(personal, int(own.sum()), int((own > 0).sum()), class_prior(own, total).strength)


def save_personal_model(path: Path, made: PersonalModel) -> None:
    save_model(path, made.model.predictor, made.model.provenance, made.model.beside)
