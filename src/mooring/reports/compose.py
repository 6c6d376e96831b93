"""From the data of a report to the report: the first screen, the verdicts, then the sections in their order."""

from dataclasses import replace

from mooring.reports.accuracies import between, guess, mean_accuracy, percent, sureness
from mooring.reports.claims import TONES, judged
from mooring.reports.figure import Figure
from mooring.reports.lead_figure import picture
from mooring.reports.report_data import ReportData, SeedGroup
from mooring.reports.section import Card, Report, Section, VerdictLine
from mooring.reports.sections import SECTIONS
from mooring.reports.summary import healthy_count, ill_words, runs_text, summary_answers
from mooring.reports.table import size
from mooring.reports.winners import contests


def compose(data: ReportData) -> Report:
    """Sections that have nothing to say are left out."""
    opening = picture(data)
    built = (without_lead_figure(build(data), opening) for build in SECTIONS)
    sections = tuple(section for section in built if not section.empty)
    return Report(
        data.title,
        subtitle(data),
        cards(data),
        verdicts(data),
        sections,
        data.command,
        data.seeds,
        summary_answers(data),
        data.story,
        opening,
    )


def without_lead_figure(section: Section, opening: tuple[Figure, ...]) -> Section:
    """Without the figures that the page opens with."""
    return replace(section, figures=tuple(figure for figure in section.figures if figure not in opening))


def subtitle(report_data: ReportData) -> str:
    data = ", ".join(dict.fromkeys(run.dataset for run in report_data.runs))
    parts = [f"A {report_data.kind}", report_data.subtitle if report_data.subtitle != data else "", data]
    return " · ".join(part for part in parts if part)


def cards(data: ReportData) -> tuple[Card, ...]:
    claims = tuple(
        Card(str(sum(claim.verdict == verdict for claim in data.claims)), verdict, f"of {len(data.claims)} claims")
        for verdict in TONES
        if data.claims
    )
    if not data.groups:
        return claims
    if len(data.members) == 1:
        return single(data.groups[0])
    return (*claims, *many(data))


def single(group: SeedGroup) -> tuple[Card, ...]:
    """Of one run; what it does not have is left out."""
    run, sure, chance = group.first, sureness(group), guess(group.first)
    when = f"after round {run.last.round}, " if len(run.result.rounds) > 1 else ""
    found = [Card(percent(run.result.accuracy), "test accuracy", f"{when}seed {run.seed_text}")]
    if sure:
        found.append(Card(between(sure.low, sure.high), "95 % interval", sure.over))
    if chance:
        named = f"always saying {chance.label}" if chance.label else "one class of many"
        found.append(Card(percent(chance.share), "guessing", named))
    if run.alone is not None:
        fewer = f", on {run.result.local_test_images}" if run.result.local_test_images else ""
        found.append(Card(percent(run.alone), "clients alone", f"mean of their own models{fewer}"))
    if run.upload_bytes is not None:
        found.append(Card(size(run.upload_bytes), "upload", f"all {len(run.last.clients)} clients, once"))
    if run.seconds:
        spent = sum(run.seconds.values())
        shown = f"{spent:.0f} s" if spent >= 10 else f"{spent:.1f} s"
        found.append(Card(shown, "client time", "all clients together"))
    return tuple(found)


def many(data: ReportData) -> tuple[Card, ...]:
    """Of several experiments; a study's sweeps are different problems, among which there is no best."""
    counted_ = (
        Card(
            str(len(data.members)),
            "runs",
            runs_text(data).partition(" ")[2].removeprefix("runs").strip(" ,()") or "all finished",
        ),
        Card(str(len(data.lines)), "experiments", seeds_text(data)),
    )
    if data.kind == "study":
        return counted_
    best = max(data.lines, key=mean_accuracy)
    found = contests(data)
    is_settled = len(found) == 1 and found[0].settled
    label = "best accuracy" if is_settled else "highest accuracy"
    text = f"{best.label}, n = {len(best.runs)}: {'settled' if is_settled else 'no settled winner'}"
    sent = [run.upload_bytes for run in data.runs if run.upload_bytes is not None]
    least, largest = (size(found(sent, default=0)) for found in (min, max))
    return (
        *counted_,
        Card(percent(mean_accuracy(best)), label, text),
        Card(least if least == largest else f"{least} – {largest}", "upload", "all clients of a run"),
    )


def seeds_text(data: ReportData) -> str:
    fewest, most = (best(len(group.runs) for group in data.lines) for best in (min, max))
    return f"n = {most} each" if fewest == most else f"n = {fewest} to {most}"


def verdicts(data: ReportData) -> tuple[VerdictLine, ...]:
    """A study's claims, then what the doctor says of its experiments."""
    if not data.claims:
        return ()
    ill = [group for group in data.groups if any(run.diagnosis.ill for run in group.runs)]
    lines = (VerdictLine("bad", "ill", ill_words(ill)),) if ill else ()
    return (*map(judged, data.claims), *lines, *healthy_count(sum(not run.diagnosis.ill for run in data.runs)))
