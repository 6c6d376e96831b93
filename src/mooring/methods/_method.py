"""A method: what clients minimise, and what the server makes of their uploads."""

from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, get_args

from mooring.client import Alignment, Bank, ClientRecipe, Clipping
from mooring.fusion import Fusion
from mooring.losses import LossTerm, MeanSquared
from mooring.models import FIXED_SIZE_MAPS, LARGE_SHAPE, PRETRAINED, FeatureMap, PublicEncoder
from mooring.schema import Checked, Doc
from mooring.uploads import Mixtures, Moments, NoisedMoments
from mooring.weighting import Weighting

OURS = "Mooring, 2026"  # as the reference of a method

Track = Literal["trained from scratch", "frozen encoder", "public", "statistics only"]
TRACKS: tuple[Track, ...] = get_args(Track)


@dataclass(frozen=True)
class Method(Checked):
    """A client recipe and a fusion.

    Without a fusion, the result is the mean over the clients (the control `local-only`). With `pooled` shards, one
    client has all data (the control `centralised`).

    >>> from mooring import METHODS
    >>> METHODS["v7"].fusion.kind, METHODS["v7"].track
    ('feature-ensemble', 'trained from scratch')
    """

    client: Annotated[ClientRecipe, Doc("what a client minimises, see below")]
    fusion: Annotated[Fusion | None, Doc("the server's rule; `null` reports the mean of the clients")]
    shards: Annotated[
        Literal["private", "pooled"],
        Doc("`pooled`: all data in one place, a control"),
    ] = "private"
    bank: Annotated[Bank | None, Doc("public features that clients receive before training")] = None
    about: Annotated[str, Doc("one line for people")] = field(default="", compare=False)
    reference: Annotated[str, Doc("source of the method")] = field(default="", compare=False)

    @property
    def track(self) -> Track:
        return "trained from scratch" if self.fusion is None else track_of(self.fusion)

    def pixels(self) -> int | None:
        """The side of the images that its frozen encoder takes, where they can have any; None without one."""
        maps = [] if self.fusion is None else feature_maps_of(self.fusion)
        return next((features.side(LARGE_SHAPE) for features in maps if isinstance(features, FIXED_SIZE_MAPS)), None)

    def aligned(self, weight: Weighting, about: str, term: LossTerm | None = None, reference: str = "") -> "Method":
        """This method with its prototypes pulled to a simplex, weighted by `weight`."""
        align = Alignment(weight=weight, term=term or MeanSquared())
        return replace(self, client=replace(self.client, align=align), about=about, reference=reference)

    def clipped(self, style: Clipping) -> "Method":
        return replace(self, client=replace(self.client, clip=style))

    def holding_out(self, share: float) -> "Method":
        """This method with a share of every client's images kept out of its training."""
        return replace(self, client=replace(self.client, held_out=share))


def track_of(fusion: Fusion) -> Track:
    """Results are comparable within a track only: other tracks use other resources."""
    maps = feature_maps_of(fusion)
    if any(isinstance(map_, PublicEncoder) for map_ in maps):
        return "public"
    if any(isinstance(map_, PRETRAINED) for map_ in maps):
        return "frozen encoder"
    return "trained from scratch" if any(part.trained for part in fusion.needs) else "statistics only"


def feature_maps_of(fusion: Fusion) -> list[FeatureMap]:
    return [part.map for part in fusion.needs if isinstance(part, Moments | Mixtures | NoisedMoments)]
