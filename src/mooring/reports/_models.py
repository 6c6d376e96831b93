"""A report on a model, as an HTML page or as a model card in Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mooring.federation import Assessment, ModelFile, SiteShare, WithoutSite, accuracy_gain
from mooring.fusion import Predictor
from mooring.intervals import Rate
from mooring.models import NOT_INCLUDED, encoder_sentence
from mooring.record import PositiveClass, RunResult
from mooring.reports._accuracies import accuracy_interval, baseline_sentence, describe_test_images
from mooring.reports._formats.html import write_html
from mooring.reports._formats.text import markdown
from mooring.reports._section import Card, Report, Section, VerdictLine
from mooring.reports._table import Cell, Table
from mooring.reports._verdict import verdict_on
from mooring.wording import percent, percent_range, size

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


@dataclass(frozen=True)
class Findings:
    """Facts beyond the model file: accuracy, accuracy without each site, and remarks on sites."""

    measured: Assessment | None = None
    without: tuple[WithoutSite, ...] = ()
    remarks: tuple[tuple[str, str], ...] = ()  # site, and what its coordinator should look at
    file_sha256: str = ""
    recorded: RunResult | None = None  # of the run that made this very file


NOTHING_MEASURED = Findings()


def write_model_page(model: ModelFile, out: Path, findings: Findings = NOTHING_MEASURED) -> None:
    """One HTML file that needs nothing else."""
    write_html(model_report(model, findings), out)


def model_card(model: ModelFile, findings: Findings = NOTHING_MEASURED) -> str:
    """The same in Markdown."""
    return markdown(model_report(model, findings))


def model_report(model: ModelFile, findings: Findings) -> Report:
    provenance = model.provenance
    sections = (
        sites(model, findings),
        assessment_section(findings.measured),
        leave_one_out_section(findings),
        knowledge(model),
        use(model),
        origin(model, findings),
    )
    return Report(
        title=f"A model of {len(model.classes)} classes",
        subtitle=" · ".join(
            part for part in (provenance.method, f"{len(provenance.used)} sites", provenance.track) if part
        ),
        cards=tuple(cards(model, findings)),
        verdicts=tuple(verdicts(model, findings)),
        sections=tuple(section for section in sections if not section.empty),
    )


def cards(model: ModelFile, findings: Findings) -> Iterator[Card]:
    provenance = model.provenance
    images = sum(site.samples or 0 for site in provenance.used)
    if findings.measured is not None:
        right, trained = findings.measured.right, findings.measured.trained
        worth = f"{trained:,} of them trained on" if trained else percent_range(right.interval)
        yield Card(
            percent(right.share),
            f"right on images of {findings.measured.folder}",
            f"{right.right:,} of {right.n:,}, {worth}",
        )
    elif findings.recorded is not None:
        recorded = findings.recorded
        yield Card(percent(recorded.accuracy), "test accuracy", describe_test_images(recorded))
    yield Card(f"{len(provenance.used)} of {len(provenance.asked)}", "sites in the model", "")
    if images:
        yield Card(f"{images:,}", "training images", "at all sites together")
    yield Card(str(len(model.classes)), "classes", "")


def verdicts(model: ModelFile, findings: Findings) -> Iterator[VerdictLine]:
    """The test result, then sites that are not in the model."""
    found = findings.measured
    if found is None and findings.recorded is not None:
        yield recorded_line(findings.recorded)
    elif found is None:
        yield VerdictLine("open", "not tested", "No test images were given, so the accuracy of the model is unknown")
    else:
        low = found.right.interval[0] if found.right.interval else 0.0
        better = low > (found.chance.share or 0.0)
        detail = f"{found.against_chance}; {found.for_new_images}"
        if found.trained:
            yield VerdictLine("open", "no real test", found.words, detail)
        else:
            yield VerdictLine("good" if better else "open", "tested", found.words, detail)
    for site in model.provenance.set_aside:
        yield VerdictLine("bad", "not in it", site.name, site.reason)
    for name, remark in findings.remarks:
        yield VerdictLine("open", "look at", name, remark)


def recorded_line(result: RunResult) -> VerdictLine:
    """The test accuracy that the run of this model recorded, and the verdict on it."""
    sure, verdict = accuracy_interval([result.accuracy], result.test_images), verdict_on(result)
    interval = f", 95 % interval {percent_range((sure.low, sure.high))}" if sure else ""
    text = f"{percent(result.accuracy)} right on {describe_test_images(result)}{interval}"
    detail = f"{baseline_sentence(result)} {verdict.text}".strip()
    return VerdictLine("bad" if verdict.warnings else "good", "tested by its run", text, detail)


def sites(model: ModelFile, findings: Findings) -> Section:
    rows = tuple(site_row(site, findings) for site in model.provenance.sites)
    columns = ("site", "in the model", "images", "share in %", "remarks", "upload")
    table = Table("sites", "Sites", columns, rows, "The upload is named by the first digits of its SHA-256.")
    lead = "Every site that was asked, how much of the model comes from its images, and why a site is not in it."
    return Section("sites", "Who contributed", lead, tables=(table,) if rows else ())


def site_row(site: SiteShare, findings: Findings) -> tuple[Cell, ...]:
    share = None if site.weight is None else f"{100 * site.weight:.1f}"
    images = "withheld" if site.used and site.samples is None else site.samples
    remarks = "; ".join(filter(None, (site.reason, *(words for name, words in findings.remarks if name == site.name))))
    return site.name, "yes" if site.used else "no", images, share, remarks, (site.upload_sha256 or "")[:12]


def assessment_section(found: Assessment | None) -> Section:
    if found is None:
        return Section("results", "How good it is", "")
    by_class = tuple((row.label, *rate_cells(row.found), *rate_cells(row.precision)) for row in found.classes)
    columns = ("class", "found", "in %", "interval", "said rightly", "in %", "interval")
    tables = [Table("by-class", "By class", columns, by_class, "Of all images of a class; of all images called so.")]
    if found.sites:
        rows = tuple((row.site, *rate_cells(row.right)) for row in found.sites)
        tables.append(Table("by-site", "By site", ("site", "right", "in %", "interval"), rows))
    if found.positive is not None:
        tables.append(positive(found.positive))
    names = tuple(row.label for row in found.classes)
    taken: tuple[tuple[Cell, ...], ...] = tuple((name, *row) for name, row in zip(names, found.confusion, strict=True))
    tables.append(Table("confusion", "Which class was taken for which", ("true class", *names), taken))
    intervals = "An interval holds the true share in 95 of 100 such tests; few images make it wide."
    lead = f"{found.words}; {found.for_new_images}. {intervals}"
    return Section("results", "How good it is", lead, tables=tuple(tables))


def positive(found: PositiveClass) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("sensitivity: found where it is", *rate_cells(found.sensitivity)),
        ("specificity: not claimed where it is not", *rate_cells(found.specificity)),
        ("AUC", None if found.auc is None else f"{found.auc:.3f}", None, None),
    )
    return Table("positive", f"{found.label} against all others", ("", "count", "in %", "interval"), rows)


def rate_cells(rate: Rate) -> tuple[str, str, str]:
    return f"{rate.right:,} of {rate.n:,}", percent(rate.share).removesuffix(" %"), percent_range(rate.interval)


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


def knowledge(model: ModelFile) -> Section:
    counts = model.provenance.images_per_class or (None,) * len(model.classes)
    rows = tuple(zip(model.classes, counts, strict=False))
    table = Table("classes", "Classes", ("class", "training images"), rows)
    lead = "Every image gets one of these classes, whatever it shows: the model has no word for anything else."
    return Section("classes", "What it knows", lead, tables=(table,))


def use(model: ModelFile) -> Section:
    channels, height, width = model.blueprint.shape
    reading, needed = model.provenance.reading, model.provenance.encoder
    colours = "grey" if channels == 1 else "colour" if channels == 3 else f"{channels} channels"
    rows: tuple[tuple[Cell, ...], ...] = (
        ("takes", f"images of any size, brought to {height} x {width} pixels, {colours} (fit: {reading.fit})"),
        ("answers with", ANSWERS[model.confidence]),
        ("consists of", CONSISTS.get(innermost(model.predictor).kind, ENSEMBLE)),
        *([] if needed is None else [("needs", f"its encoder: {encoder_sentence(needed, NOT_INCLUDED)}")]),
        *(("protected by", words) for words in model.provenance.protections),
        ("size", f"{size(sum(tensor.nbytes for tensor in model.predictor.state_dict().values()))} of tensors"),
        ("not for", "decisions about people without someone who looks at the image too"),
    )
    lead = "Test it on images of your own before you rely on it: another camera or another hospital is another problem."
    table = Table("use", "In short", ("", "what it means"), rows)
    return Section("use", "Before you use it", lead, tables=(table,))


def innermost(predictor: Predictor) -> Predictor:
    """The predictor inside those that only change its confidence."""
    inner = next((part for part in predictor.children() if isinstance(part, Predictor)), None)
    return predictor if inner is None else innermost(inner)


def origin(model: ModelFile, findings: Findings) -> Section:
    provenance = model.provenance
    known: tuple[tuple[str, Cell], ...] = (
        ("made by", {"simulation": "a simulated run", "federation": "a federation by file"}.get(provenance.origin, "")),
        ("method", provenance.method),
        ("fusion", provenance.fusion),
        ("job", provenance.job_sha256),
        ("fingerprint", provenance.fingerprint),
        ("seed", provenance.seed),
        ("signed by", model.signer or "nobody"),
        ("SHA-256 of the file", findings.file_sha256),
        ("SHA-256 of its head", model.sha256),
        ("versions", ", ".join(f"{name} {version}" for name, version in provenance.versions.items())),
    )
    rows = tuple((name, str(value)) for name, value in known if value not in (None, ""))
    table = Table("origin", "Origin", ("", "value"), rows)
    return Section(
        "origin", "Where it comes from", "Enough to make it again, and to tell two files apart.", tables=(table,)
    )
