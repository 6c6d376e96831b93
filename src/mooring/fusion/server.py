"""Where a fusion happens."""

from dataclasses import dataclass, field

from mooring.data.images import ImageSet
from mooring.events import Emit, silent
from mooring.models.network import Blueprint


@dataclass(frozen=True)
class Server:
    """What the server has beside the uploads: the plan of the network, a seed, and perhaps images of its own.

    `public` images anybody may see; `validation` images serve selection and calibration, never the final figure.
    """

    blueprint: Blueprint
    seed: int = 0
    public: ImageSet | None = field(default=None, repr=False)
    validation: ImageSet | None = field(default=None, repr=False)
    emit: Emit = field(default=silent, repr=False)
