"""The sections of a model card, each one question."""

from collections.abc import Sequence
from dataclasses import dataclass

from mooring.federation import (
    Assessment,
    ClassResult,
    ModelFile,
    Predictions,
    SiteShare,
    WithinLimits,
    WithoutSite,
    accuracy_gain,
    class_results,
)
from mooring.fusion import Predictor
from mooring.intervals import Rate
from mooring.models import NOT_INCLUDED, encoder_sentence
from mooring.record import PositiveClass, RunJudgement, RunResult
from mooring.reports._section import Section
from mooring.reports._table import Cell, Table
from mooring.wording import percent, percent_range, plural, size

ANSWERS = {
    "probability": "probabilities: of images like those of the sites, about nine in ten that get 0.9 should be right; "
    "the temperature was set on training or validation data, and images from elsewhere may differ",
    "score": "scores: they say which class is likeliest, and nothing about how often that is right",
}
CONSISTS = {  # kind of a predictor -> what it is made of
    "frozen-features": "one head on the features of a fixed map, made from sums over all sites",
    "network": "one network in the place of all sites' networks",
}
ENSEMBLE = "the networks of all sites side by side: the file contains what each site trained"
UNSTATED = "its owner has not said; images like those of its sites are all that its figures can hold for"
SCOPE = "several labels for one image, outlines of objects, tables or text"
PEOPLE = "decisions about people without someone who looks at the image too"
OPEN = "no noise and no secure sum: the coordinator saw the upload of every site, and no image"
ONE_MACHINE = "none: a simulation, with the images of all sites on one machine"
WITHHELD = "withheld"
SAME_FOLDER = "calibrated on a folder of this name and size: on the same images these figures are too good"
INTERVALS = "An interval holds the true share in 95 of 100 such tests; few images make it wide."
Rows = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Findings:
    """Facts beyond the model file: what it is for, its accuracy, and remarks on sites."""

    measured: Assessment | None = None
    without: tuple[WithoutSite, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()  # site, and what its coordinator should look at
    file_sha256: str = ""
    recorded: RunResult | None = None  # of the run that made this very file
    judged: RunJudgement | None = None  # of its sites, by the same run
    intended: str = ""  # in the words of its owner
    hide_sites: bool = False
    others: Predictions | None = None  # of images of other kinds


def facts(slug: str, title: str, lead: str, rows: Sequence[tuple[str, Cell]]) -> Section:
    """Names and values."""
    table = Table(slug, title, ("", "what it means"), tuple(rows))
    return Section(slug, title, lead, tables=(table,) if rows else ())


def intended_use(model: ModelFile, findings: Findings) -> Section:
    channels, height, width = model.blueprint.shape
    colours = "grey" if channels == 1 else "colour" if channels == 3 else f"{channels} channels"
    fit, needed = model.provenance.reading.fit, model.provenance.encoder
    rows: list[tuple[str, Cell]] = [
        ("intended for", findings.intended or UNSTATED),
        ("not for", f"{PEOPLE}; {SCOPE}"),
        ("takes", f"images of any size, brought to {height} x {width} pixels, {colours} (fit: {fit})"),
        ("answers with", ANSWERS[model.confidence]),
        *([] if needed is None else [("needs", f"its encoder: {encoder_sentence(needed, NOT_INCLUDED)}")]),
        ("size", f"{size(sum(tensor.nbytes for tensor in model.predictor.state_dict().values()))} of tensors"),
    ]
    lead = "Every image gets one of these classes, whatever it shows. Test the model on your own images first."
    return facts("use", "Intended use", lead, rows)


def assessment_section(found: Assessment | None) -> Section:
    if found is None:
        return Section("results", "How good it is", "")
    tables = [class_table(found.classes)]
    if found.sites:
        rows = tuple((row.site, *rate_cells(row.right)) for row in found.sites)
        tables.append(site_table(rows))
    if found.bins:
        tables.append(confidence_table(found))
    if found.positive is not None:
        tables.append(positive(found.positive))
    names = tuple(row.label for row in found.classes)
    taken: tuple[tuple[Cell, ...], ...] = tuple((name, *row) for name, row in zip(names, found.confusion, strict=True))
    tables.append(Table("confusion", "Which class was taken for which", ("true class", *names), taken))
    lead = f"{found.words}; {found.for_new_images}. {INTERVALS}"
    return Section("results", "How good it is", lead, tables=tuple(tables))


def confidence_table(found: Assessment) -> Table:
    rows = tuple(
        (f"{row.low:.2f} to {row.high:.2f}", f"{100 * row.confidence:.1f}", *rate_cells(row.right))
        for row in found.bins
    )
    columns = ("probability", "should be right in %", "right", "in %", "interval")
    return Table("by-confidence", "By probability", columns, rows)


def positive(found: PositiveClass) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("sensitivity: found where it is", *rate_cells(found.sensitivity)),
        ("specificity: not claimed where it is not", *rate_cells(found.specificity)),
        ("AUC", None if found.auc is None else f"{found.auc:.3f}", None, None),
    )
    return Table("positive", f"{found.label} against all others", ("", "count", "in %", "interval"), rows)


def rate_cells(rate: Rate) -> tuple[str, str, str]:
    return f"{rate.right:,} of {rate.n:,}", percent(rate.share).removesuffix(" %"), percent_range(rate.interval)


def recorded_section(model: ModelFile, findings: Findings) -> Section:
    """What the run of this model recorded: by class from its confusion matrix, and by site if it judged them."""
    result, judged = findings.recorded, findings.judged
    confusion = () if result is None else result.metrics.confusion
    if result is None or len(confusion) != len(model.classes):
        return Section("results", "How good it is", "")
    tables = [class_table(class_results(confusion, model.classes))]
    if judged is not None and judged.sites:
        rows = tuple((row.site, *rate_cells(Rate(row.fused, row.images))) for row in judged.sites)
        tables.append(site_table(rows))
    lead = f"On the test images of the run that made it. {INTERVALS}"
    return Section("results", "How good it is", lead, tables=tuple(tables))


def class_table(rows: Sequence[ClassResult]) -> Table:
    cells = tuple((row.label, *rate_cells(row.found), *rate_cells(row.precision)) for row in rows)
    columns = ("class", "found", "in %", "interval", "said rightly", "in %", "interval")
    return Table("by-class", "By class", columns, cells, "Of all images of a class; of all images called so.")


def site_table(rows: Rows) -> Table:
    return Table("by-site", "By site", ("site", "right", "in %", "interval"), rows)


def leave_one_out_section(findings: Findings) -> Section:
    found = findings.measured
    rows = tuple(
        (row.site, *rate_cells(row.found.right), f"{accuracy_gain(found, row):+.1f}")
        for row in findings.without
        if found is not None
    )
    columns = ("without", "right", "in %", "interval", "points that the site adds")
    note = "Differences smaller than the intervals may be chance; the images are the same in every row."
    table = Table("without", "The model of all other sites", columns, rows, note)
    lead = "What the other sites would reach without each one, on the same images."
    return Section("without", "What each site adds", lead, tables=(table,) if rows else ())


def limits_section(model: ModelFile, findings: Findings) -> Section:
    """Calibration, abstention and unusual images: what is set, and what that did to the images named."""
    found, recorded = findings.measured, findings.recorded
    rows: list[tuple[str, Cell]] = []
    error = found.calibration_error if found else recorded.metrics.calibration_error if recorded else None
    if error is not None and model.confidence == "probability":
        rows.append(("calibration error (ECE)", f"{error:.3f}: probabilities are off by this much on average"))
    if model.calibration is not None:
        rows.append(("calibration", model.calibration.words))
    rows += [("limit", words) for words in model.missing]
    if found is not None and found.within is not None:
        rows += within_limits(found.within)
    if findings.others is not None:
        marks = findings.others.marked
        text = "none: the model has no threshold" if marks is None else rate_text(marks)
        rows.append(("unusual, of other images", text))
    lead = "How far a probability can be relied on, and what happens to images of other kinds."
    return facts("limits", "Confidence and unusual images", lead, rows)


def within_limits(within: WithinLimits) -> list[tuple[str, Cell]]:
    """A row for each limit that is set."""
    abstains = within.answered.right < within.answered.n
    rows = {
        "unusual, of these images": within.unusual,
        "answered": within.answered if abstains else None,
        "right, of the answered": within.right if abstains and within.right.n else None,
        "sensitivity at its threshold": within.sensitivity,
        "specificity at its threshold": within.specificity,
    }
    same = [("same images?", SAME_FOLDER)] if within.same_folder else []
    return [*same, *((name, rate_text(rate)) for name, rate in rows.items() if rate is not None)]


def rate_text(rate: Rate) -> str:
    return f"{rate.right:,} of {rate.n:,} ({percent(rate.share)}, 95 % interval {percent_range(rate.interval)})"


def data_section(model: ModelFile, findings: Findings) -> Section:
    """Sites that are in the model, and images of each class, as far as sites tell."""
    provenance = model.provenance
    contributors = tuple(site_row(site, findings) for site in provenance.used)
    counted = (provenance.images_per_class,) if provenance.images_per_class else ()
    columns = ("class", *("training images" for _ in counted))
    classes = Table("classes", "Classes", columns, tuple(zip(model.classes, *counted, strict=True)))
    sites = Table("sites", "Sites", ("site", "images", "share in %", "remarks", "upload (SHA-256)"), contributors)
    lead = "Who contributed how much, as far as the sites tell."
    return Section("data", "Training data", lead, tables=((sites,) if contributors else ()) + (classes,))


def site_row(site: SiteShare, findings: Findings) -> tuple[Cell, ...]:
    share = None if site.weight is None else f"{100 * site.weight:.1f}"
    remarks = "; ".join(filter(None, (site.reason, *(words for name, words in findings.remarks if name == site.name))))
    return site.name, WITHHELD if site.samples is None else site.samples, share, remarks, site.upload_sha256 or ""


def excluded_section(model: ModelFile, findings: Findings) -> Section:
    rows: list[tuple[str, Cell]] = [(site.name, site.reason) for site in model.provenance.set_aside]
    if findings.measured is not None and findings.measured.unreadable:
        rows.append((plural(len(findings.measured.unreadable), "test image"), "could not be read"))
    table = Table("excluded", "What was excluded", ("what", "why"), tuple(rows))
    return Section(
        "excluded", "What was excluded", "Sites and images that did not count.", tables=(table,) * bool(rows)
    )


def privacy_section(model: ModelFile) -> Section:
    provenance = model.provenance
    usual = ONE_MACHINE if provenance.origin == "simulation" else OPEN
    rows: list[tuple[str, Cell]] = [("mode", words) for words in provenance.protections or (usual,)]
    rows.append(("in the file", CONSISTS.get(innermost(model.predictor).kind, ENSEMBLE)))
    return facts("privacy", "Privacy", "What was done to hide each site's numbers, and what the file holds.", rows)


def innermost(predictor: Predictor) -> Predictor:
    """The predictor inside those that only change its confidence."""
    inner = next((part for part in predictor.children() if isinstance(part, Predictor)), None)
    return predictor if inner is None else innermost(inner)


def lineage(model: ModelFile, findings: Findings) -> Section:
    provenance = model.provenance
    versions = ", ".join(f"{name} {version}" for name, version in provenance.versions.items())
    known: tuple[tuple[str, Cell], ...] = (
        ("made by", {"simulation": "a simulated run", "federation": "a federation by file"}.get(provenance.origin, "")),
        ("method", provenance.method),
        ("fusion", provenance.fusion),
        ("job", provenance.job_sha256),
        ("encoder", provenance.encoder),
        ("fingerprint", provenance.fingerprint),
        ("seed", provenance.seed),
        ("signed by", model.signer or "nobody"),
        ("SHA-256 of the file", findings.file_sha256),
        ("SHA-256 of its head", model.sha256),
        ("versions", versions),
    )
    rows = [(name, str(value)) for name, value in known if value not in (None, "")]
    return facts("origin", "Lineage", "Enough to make it again; uploads are named above by their SHA-256.", rows)
