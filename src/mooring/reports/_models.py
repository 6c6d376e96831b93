"""The model card: what a model is for, what it was made from, how good it is, and what it cannot do.

One report for HTML and Markdown. Facts come from the model file, the calibration beside it, the run that wrote it, and
images that its user names; what nobody knows is said to be unknown.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mooring.federation import ModelFile
from mooring.record import RunResult
from mooring.reports._accuracies import accuracy_interval, baseline_sentence, describe_test_images
from mooring.reports._formats.html import page, write_html
from mooring.reports._formats.text import markdown
from mooring.reports._model_sections import (
    Findings,
    assessment_section,
    data_section,
    excluded_section,
    intended_use,
    leave_one_out_section,
    limits_section,
    lineage,
    privacy_section,
    recorded_section,
)
from mooring.reports._section import Card, Report, VerdictLine
from mooring.reports._verdict import verdict_on
from mooring.wording import percent, percent_range

NOTHING_MEASURED = Findings()


def write_model_page(model: ModelFile, out: Path, findings: Findings = NOTHING_MEASURED) -> None:
    """One HTML file that needs nothing else."""
    write_html(model_report(model, findings), out)


def model_page(model: ModelFile, findings: Findings = NOTHING_MEASURED) -> str:
    """The page as text."""
    return page(model_report(model, findings))


def model_card(model: ModelFile, findings: Findings = NOTHING_MEASURED) -> str:
    """The same in Markdown."""
    return markdown(model_report(model, findings))


def model_report(model: ModelFile, findings: Findings) -> Report:
    if findings.hide_sites:
        model, findings = without_names(model, findings)
    provenance = model.provenance
    results = recorded_section(model, findings) if findings.measured is None else assessment_section(findings.measured)
    sections = (
        intended_use(model, findings),
        results,
        leave_one_out_section(findings),
        limits_section(model, findings),
        data_section(model, findings),
        excluded_section(model, findings),
        privacy_section(model),
        lineage(model, findings),
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


def without_names(model: ModelFile, findings: Findings) -> tuple[ModelFile, Findings]:
    """The same with a number for every site. The model file itself still names them, and hashes of uploads stay."""
    rows, measured, judged = model.provenance.sites, findings.measured, findings.judged
    named = [row.name for row in rows]
    named += [row.site for found in (measured, judged) if found is not None for row in found.sites]
    numbers = {name: f"site {number}" for number, name in enumerate(dict.fromkeys(named), 1)}
    longest_first = sorted(map(re.escape, numbers), key=len, reverse=True)
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(longest_first)})(?![\w-])") if numbers else re.compile("(?!)")

    def hidden(text: str) -> str:
        return pattern.sub(lambda found: numbers[found[0]], text)

    sites = tuple(replace(row, name=numbers[row.name], reason=hidden(row.reason)) for row in rows)
    return replace(model, provenance=replace(model.provenance, sites=sites)), replace(
        findings,
        measured=None
        if measured is None
        else replace(measured, sites=tuple(replace(row, site=numbers[row.site]) for row in measured.sites)),
        judged=None
        if judged is None
        else replace(judged, sites=tuple(replace(row, site=numbers[row.site]) for row in judged.sites)),
        without=tuple(replace(row, site=numbers.get(row.site, row.site)) for row in findings.without),
        remarks=tuple((numbers.get(name, name), hidden(words)) for name, words in findings.remarks),
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
