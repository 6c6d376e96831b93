"""A study's folder as the data of a report: its claims, its tables with the note's numbers, and the first figure."""

from collections.abc import Sequence
from dataclasses import replace
from math import log10
from pathlib import Path
from shlex import quote

from mooring.config import Trust
from mooring.errors import StoreError
from mooring.notes._statistics import mean_and_std
from mooring.notes._study_record import (
    AGAIN,
    ANSWERS,
    CONFIRMED,
    NOT_RUN,
    REFUTED,
    STUDY,
    UNDECIDED,
    DecidedClaim,
    MainNumber,
    PrintedTable,
    StudyRecord,
    read_study,
)
from mooring.reports import (
    Additions,
    Card,
    Curves,
    Figure,
    ReportData,
    ReportedRun,
    Section,
    SummaryAnswer,
    Table,
    Tone,
    VerdictLine,
    any_known,
    client_accuracy_curves,
    client_lines,
    final_accuracies,
    label_runs,
    on_log_scale,
    quantile_caption,
    read_sweep,
)

TONES: dict[str, Tone] = {CONFIRMED: "good", REFUTED: "bad", UNDECIDED: "open", NOT_RUN: "open"}
SUBJECTS = {  # subject -> words that a claim about it uses
    "remedy": ("remed", "guard", "gamma", "hinge", "helps", "cure", "proposal"),
    "lambda": ("lambda", "sigma", "anneal", "pull", "equilibrium"),
}
ORDER = ("lambda", "accuracy", "remedy")
SENTENCES = 3  # at the top of the page
LARGE_CHANGE = 1.0  # decades of lambda; from here on its course is the figure that the page opens with


def study_report(folder: Path, trust: Trust) -> ReportData:
    """All runs of the study's sweeps, and what the study says about them."""
    study = read_study(folder)
    check_verdicts(study, folder)
    members, unfinished, baselines = [], [], {}
    for name in study.sweeps:
        if not (folder / name / "sweep.yaml").is_file():
            unfinished.append((name, "the folder of this sweep is missing"))
            continue
        sweep = read_sweep(folder / name, name, trust)
        members += sweep.members
        unfinished += [(f"{name}/{run}", why) for run, why in sweep.unfinished]
        if sweep.baseline:
            baselines[name] = sweep.baseline
    data = ReportData(
        "study",
        study.title,
        label_runs(members),
        tuple(unfinished),
        baselines,
        subtitle=" · ".join(part for part in (f"study {study.study}", study.note, f"scale: {study.scale}") if part),
        command=study.command,
        folder=str(folder),
        one_problem=False,
    )
    return replace(data, additions=additions(study, data))


def check_verdicts(study: StudyRecord, folder: Path) -> None:
    for i, row in enumerate(study.verdicts):
        if row.verdict not in ANSWERS:
            raise StoreError(
                f"{folder / STUDY}: verdicts[{i}].verdict={row.verdict!r} is unknown",
                f"write one of {', '.join(ANSWERS)}",
            )


def additions(study: StudyRecord, data: ReportData) -> Additions:
    """Everything on the page that is not about single runs."""
    counts = [sum(claim.verdict == answer for claim in study.verdicts) for answer in ANSWERS]
    return Additions(
        cards=tuple(
            Card(str(count), answer, f"of {len(study.verdicts)} claims")
            for answer, count in zip(ANSWERS, counts, strict=True)
            if study.verdicts
        ),
        verdicts=tuple(sorted(map(verdict_line, study.verdicts), key=lambda line: ORDER.index(line.subject))),
        sections=(claims_section(study), rounds_section(study)),
        story=story(study),
        figures=opening_figures(data),
        next_step=SummaryAnswer(
            "What to do next",
            "The same tables with the note's numbers, as a workbook:",
            command=f"mooring report {quote(data.folder)} --format excel",
        ),
    )


def verdict_line(claim: DecidedClaim) -> VerdictLine:
    """The verdict, the claim and its main number; quotation, rule and remark unfold."""
    documented = f"documented: {claim.documented}" if claim.documented else ""
    measured = f"measured: {claim.measured}" if claim.measured else ""
    return VerdictLine(
        TONES[claim.verdict],
        claim.verdict,
        claim.claim,
        " · ".join(part for part in (documented, measured) if part),
        claim.phrase,
        claim.remark,
        "" if claim.number is None else number_text(claim.number),
        claim.reason,
        subject_of(claim),
    )


def subject_of(claim: DecidedClaim) -> str:
    """Whether a claim is about a remedy, lambda or accuracy, by the first of these that its words name."""
    words = f"{claim.id} {claim.claim}".lower()
    return next((subject for subject, named in SUBJECTS.items() if any(word in words for word in named)), "accuracy")


def number_text(number: MainNumber) -> str:
    """`difference -0.149 ± 0.067`"""
    return f"{number.name or 'measured'} {mean_and_std(number.value.mean, number.value.std)}"


def story(study: StudyRecord) -> tuple[str, ...]:
    """The study's main claims with their numbers, in at most three sentences; without any, its question."""
    sentences = tuple(f"{row.says}: {row.measured}; {row.verdict}." for row in study.highlights[:SENTENCES])
    return sentences or ((study.about.partition(". ")[0].rstrip(".?") + study.about[-1:],) if study.about else ())


def claims_section(study: StudyRecord) -> Section:
    """Every claim and every table of the note, with the measured values."""
    columns = ("claim", "in the note's words", "documented", "measured", "verdict", "why", "where", "id")
    rows = tuple(
        tuple(cell or None for cell in (c.claim, c.phrase, c.documented, c.measured, c.verdict, c.why, c.where, c.id))
        for c in study.verdicts
    )
    claims = (Table("documented", "Documented and measured", columns, rows, folded=True),) if rows else ()
    printed = [replace(table, folded=bool(table.plots)) for table in report_tables(study.tables, "study")]
    lead = "Every claim of the note, with the measurements of these runs."
    return Section(
        "documented", "Documented versus measured", lead, tables=(*claims, conditions_table(study), *printed)
    )


def rounds_section(study: StudyRecord) -> Section:
    lead = "Every round of every client, run by run: the numbers behind the tables above."
    tables = tuple(replace(t, of=t.name, folded=True) for t in report_tables(study.courses, "course"))
    return Section("courses", "Every round", lead, tables=tables)


def conditions_table(study: StudyRecord) -> Table:
    """The question of the study, and the conditions under which it was answered."""
    asked = {
        "question": study.about,
        "scale": ": ".join(part for part in (study.scale, study.scale_about) if part),
        "seeds": ", ".join(map(str, study.seeds)),
        "settings": " ".join(study.settings),
        "command": study.command,
    }
    rows = tuple((what, text) for what, text in asked.items() if text)
    return Table("study", "The study", ("what", "value"), rows, folded=True)


def report_tables(printed: Sequence[PrintedTable], slug: str) -> list[Table]:
    """Tables as a study wrote them. Every row must fill its columns, and every column that is drawn must exist."""
    found = []
    for i, table in enumerate(printed, 1):
        drawn = {name for plot in table.plots for line in plot.lines for name in (line.x, line.y)}
        missing = sorted(drawn - {*table.columns})
        short = [line for line, cells in enumerate(table.rows) if len(cells) != len(table.columns)]
        if missing:
            raise StoreError(f"{STUDY}: {slug} table {i} draws the column {missing[0]!r}, which it has not", AGAIN)
        if short:
            wide = len(table.columns)
            raise StoreError(f"{STUDY}: {slug} table {i}: rows[{short[0]}] does not fill {wide} columns", AGAIN)
        title = table.title or f"Table {i}"
        n, named = len(table.seeds), ", ".join(map(str, table.seeds))
        note = f"n = {n}, seed{'s' * (n > 1)} {named}." if table.seeds else ""
        found.append(Table(f"{slug}-{i}", title, table.columns, table.rows, note, table.seeds, table.plots, table.name))
    return found


def opening_figures(data: ReportData) -> tuple[Figure, ...]:
    """Lambda of every client above the accuracies, of the run whose lambda moves most; where none does, the final
    accuracy of every experiment."""
    if not data.runs:
        return ()
    run = max(data.shown, key=decades)
    if decades(run) < LARGE_CHANGE:
        return tuple(final_accuracies(data)) if len(data.lines) > 1 else ()
    below = client_accuracy_curves(run)
    return (lambda_figure(run), *([] if below is None else [below]))


def decades(run: ReportedRun) -> float:
    """log10(largest / smallest lambda), of the client for which that is largest."""
    found = [[row.lambda_felt for row in client.rounds if row.lambda_felt] for client in run.clients]
    return max((log10(max(course) / min(course)) for course in found if course), default=0.0)


def lambda_figure(run: ReportedRun) -> Curves:
    lines = []
    for line in (
        *client_lines(run, lambda _, row: row.lambda_felt),
        *client_lines(run, lambda _, row: row.lambda_raw, "dashed", "raw"),
    ):
        lines += [shown for shown in (on_log_scale(line),) if any_known(shown.y)]
    caption = (
        "The experiment in which lambda moves most. Solid: the effective lambda, which weights the loss; dashed: the "
        f"raw lambda, before annealing. Below: the accuracies of the same run.{quantile_caption(run)}"
    )
    title = f"{run.title}: lambda of every client, on a logarithmic axis"
    return Curves("picture-lambda", title, caption, "round", "lambda", tuple(lines), "log", seeds=(run.seed,))
