"""Compose a report from its data: the summary, the verdicts, and the sections in order."""

from dataclasses import replace

from mooring.reports._accuracies import baseline_of
from mooring.reports._figure import Figure
from mooring.reports._report_data import NO_EXTENSION, Extension, ReportData, SeedGroup
from mooring.reports._section import Card, Report, Section, VerdictLine
from mooring.reports._sections import SECTIONS
from mooring.reports._sections.comparison import contests, settled_labels
from mooring.reports._sections.findings import finding_lines
from mooring.reports._sections.setup import setup
from mooring.reports._summary import run_details, summary_answers
from mooring.wording import percent, percent_range, round_number, size


def compose(data: ReportData, extension: Extension = NO_EXTENSION) -> Report:
    """Sections without content are left out; the settings come last."""
    opening = data.additions.figures
    built = (*(build(data) for build in (*SECTIONS, *extension.sections)), *data.additions.sections, setup(data))
    shown = (without_lead_figure(section, opening) for section in built)
    sections = tuple(section for section in shown if not section.empty)
    return Report(
        data.title,
        subtitle(data),
        cards(data),
        verdicts(data),
        sections,
        data.command,
        data.seeds,
        summary_answers(data),
        data.additions.story,
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
    added = data.additions.cards
    if not data.groups:
        return added
    if len(data.members) == 1:
        return single(data.groups[0])
    return (*added, *many(data))


def single(group: SeedGroup) -> tuple[Card, ...]:
    """The headline numbers of one run; unknown ones are left out."""
    run, sure, baseline = group.first, group.interval, baseline_of(group.first.result)
    when = f"after round {round_number(run.result.last.round)}, " if len(run.result.rounds) > 1 else ""
    interval = f"95 % interval {percent_range((sure.low, sure.high))} {sure.over}; " if sure else ""
    found = [Card(percent(run.result.accuracy), "test accuracy", f"{interval}{when}seed {run.seed_text}")]
    if baseline:
        found.append(Card(percent(baseline.share), "majority-class baseline", baseline.rule))
    if run.alone is not None:
        fewer = f", on {run.result.local_test_images}" if run.result.local_test_images else ""
        gain = f"{100 * (run.result.accuracy - run.alone):+.1f} points"
        found.append(Card(gain, "over local-only", f"{percent(run.alone)}, mean of the clients' own models{fewer}"))
    if run.result.upload_bytes is not None:
        found.append(Card(size(run.result.upload_bytes), "upload", f"all {len(run.result.last.clients)} clients, once"))
    if run.seconds:
        spent = sum(run.seconds.values())
        shown = f"{spent:.0f} s" if spent >= 10 else f"{spent:.1f} s"
        found.append(Card(shown, "client time", "all clients together"))
    return tuple(found)


def many(data: ReportData) -> tuple[Card, ...]:
    """The headline numbers of several experiments; the best one only if all are on the same problem."""
    counted_ = (
        Card(str(len(data.members)), "runs", run_details(data) or "all finished"),
        Card(str(len(data.lines)), "experiments", seeds_text(data)),
    )
    if not data.one_problem:
        return counted_
    sent = [run.result.upload_bytes for run in data.runs if run.result.upload_bytes is not None]
    least, largest = (size(found(sent, default=0)) for found in (min, max))
    return (
        *counted_,
        *(best_card(track, lines, settled_labels(contests(data))) for track, lines in data.contests.items()),
        Card(least if least == largest else f"{least} – {largest}", "upload", "all clients of a run"),
    )


def best_card(track: str, lines: tuple[SeedGroup, ...], won: set[str]) -> Card:
    best = lines[0]
    state = "the only one" if len(lines) == 1 else "settled" if best.label in won else "no settled winner"
    label = "best accuracy" if best.label in won else "highest accuracy"
    return Card(percent(best.mean_accuracy), f"{label}, {track}", f"{best.label}, n = {len(best.runs)}: {state}")


def seeds_text(data: ReportData) -> str:
    fewest, most = (best(len(group.runs) for group in data.lines) for best in (min, max))
    return f"n = {most} each" if fewest == most else f"n = {fewest} to {most}"


def verdicts(data: ReportData) -> tuple[VerdictLine, ...]:
    """Alerts of the data check, then the verdicts of the folder's reader with the doctor's findings."""
    judged = [run.judgement for run in data.runs if run.judgement is not None]
    alerts = tuple(VerdictLine("bad", "data", alert) for judgement in judged for alert in judgement.alerts)
    decided = data.additions.verdicts
    return (*alerts, *decided, *finding_lines(data)) if decided else alerts
