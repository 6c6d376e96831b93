"""The model file of a run: its predictor, with the provenance of every site."""

from collections.abc import Sequence

from mooring.config import Experiment
from mooring.federation import EncoderKept, Provenance, SiteShare, kept_as, model_in_pieces
from mooring.fusion import Fusion, Predictor
from mooring.methods import track_of
from mooring.record import Result, environment
from mooring.uploads import Pieces

LEFT_OUT = "left out of this fusion"


def model_of(
    predictor: Predictor,
    fusion: Fusion,
    experiment: Experiment,
    result: Result,
    at_round: int,
    clients: Sequence[int],
    in_model: EncoderKept = "named",
) -> Pieces:
    """The bytes of `model.mooring`: the predictor that `fusion` made from these clients' uploads of this round."""
    predictor, encoder = kept_as(in_model, predictor)
    provenance = Provenance(
        origin="simulation",
        method=experiment.label_elsewhere,
        fusion=fusion.kind,
        track=track_of(fusion),
        job_sha256=result.job_sha256,
        fingerprint=result.fingerprint,
        seed=experiment.seed,
        sites=site_shares(result, at_round, clients),
        images_per_class=class_counts_of(result, clients),
        reading=experiment.data.reading(),
        versions=environment().packages,
        encoder=encoder,
    )
    return model_in_pieces(predictor, provenance)


def site_shares(result: Result, at_round: int, clients: Sequence[int]) -> tuple[SiteShare, ...]:
    """Every site of the run: its share of the images, or why it has none."""
    delivered = result.delivered(at_round)
    total = sum(delivered[client].samples for client in clients)
    absent = {row.client: row.reason for row in result.absent}

    def share(number: int, name: str) -> SiteShare:
        if number not in clients:
            return SiteShare(name, False, reason=absent.get(number, LEFT_OUT))
        upload = delivered[number]
        return SiteShare(name, True, upload.samples, upload.samples / total, upload.sha256)

    return tuple(share(site.number, site.name) for site in result.sites)


def class_counts_of(result: Result, clients: Sequence[int]) -> tuple[int, ...]:
    """How many images of each class these clients hold."""
    counts = [
        result.partition.label_counts[client] for client in clients if client < len(result.partition.label_counts)
    ]
    return tuple(map(sum, zip(*counts, strict=True)))
