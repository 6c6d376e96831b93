"""What `mooring run FOLDER` found out about the sites of a run: alerts, accuracy at every site, heads compared."""

from dataclasses import dataclass, field

from mooring.schema import ADDED_LATER

JUDGEMENT = "judgement.json"


@dataclass(frozen=True)
class SiteAccuracy:
    """Test images of one site that three models have right."""

    site: str
    images: int  # of this site that are held out for testing
    fused: int  # right by the fused model
    alone: int | None  # by a model of this site's images only; None: it cannot be made
    others: int | None  # by the model of all other sites: what a new site may expect
    personal: int | None = field(default=None, metadata={ADDED_LATER: True})  # by the fused model, personalised


@dataclass(frozen=True)
class HeadAccuracy:
    """A head that the same sums give."""

    head: str
    expected: float  # accuracy that the sums foretell; heads are chosen by it
    accuracy: float  # on the test images, for information


@dataclass(frozen=True)
class RunJudgement:
    """One file in the run folder, `judgement.json`."""

    alerts: tuple[str, ...]  # of the data check that somebody must decide about
    sites: tuple[SiteAccuracy, ...] = ()
    heads: tuple[HeadAccuracy, ...] = ()
