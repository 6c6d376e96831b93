"""The Markdown page of a study: documented and measured values at every scale, and every verdict with its reason."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import fill

from mooring.notes._statistics import mean_and_std, short_value
from mooring.notes._study_record import ANSWERS, DecidedClaim, ListedSentence, PrintedTable, StudyRecord
from mooring.reports import Cell, Quoted, Spread

WIDTH = 120
READING = (
    "Every seed has its own partition, shared by all runs that are compared. Figures are mean ± standard deviation "
    "over seeds, on test images that no client holds, after the last round unless a table says otherwise. The study's "
    "file has the rule behind each verdict. With so few seeds, a verdict describes these runs only."
)

EXCEL = "the Excel report of this folder (`mooring report FOLDER --format excel`)"


def page(record: StudyRecord, scales: Sequence[StudyRecord] = ()) -> str:
    """The page of one record, or of several `scales` of the study side by side."""
    return "\n".join(page_lines(record, scales or (record,))) + "\n"


def page_lines(record: StudyRecord, scales: Sequence[StudyRecord]) -> Iterator[str]:
    yield f"# Study {record.study}: {record.title}\n"
    yield fill(record.about, WIDTH) + "\n"
    yield "```text\n" + "\n".join(each.command for each in scales) + "\n```\n"
    for each in scales:
        seeds = ", ".join(map(str, each.seeds))
        yield fill(f"Scale `{each.scale}`: {each.scale_about} Seeds {seeds}.", WIDTH) + "\n"
    yield fill(READING, WIDTH) + "\n"
    for each in scales:
        if each.tested:
            yield fill(f"Accuracies at scale `{each.scale}` are on {each.tested}.", WIDTH) + "\n"
    for each in scales:
        yield f"Of {len(each.verdicts)} claims at scale `{each.scale}`: {verdict_counts(each)}.\n"
        if each.missing:
            yield fill(f"**Not finished, and missing below:** {', '.join(each.missing)}.", WIDTH) + "\n"
    yield "## Claims\n"
    measured = [each.scale for each in scales]
    yield from markdown_rows(("claim", "documented", *measured, "verdict", "why"), claims(record, scales))
    yield "\n## Every sentence of the note that asserts something\n"
    yield from markdown_rows(("the note says", "where", "tested by, or why not"), map(sentence_row, record.sentences))
    for each in scales:
        at = f" ({each.scale})" if len(scales) > 1 else ""
        for part in each.tables:
            yield f"\n## {heading(part)}{at}\n"
            yield from markdown_rows(part.columns, ([markdown_cell(cell) for cell in row] for row in part.rows))
        if each.courses:
            named = ", ".join(course.name for course in each.courses)
            yield "\n" + fill(f"Every round of every client is in {EXCEL}: {named}.", WIDTH)
    for each in scales:
        yield f"\n## Runs at scale {each.scale}\n"
        yield f"Settings: `{' '.join(each.settings)}`.\n"
        rows = [(r.sweep, r.run, f"{r.accuracy:.3f}", str(r.fingerprint)[:8]) for r in each.runs]
        yield from markdown_rows(("sweep", "run", "accuracy", "fingerprint of the training"), rows)


def verdict_counts(record: StudyRecord) -> str:
    """`14 confirmed, 3 was not run`"""
    counts = Counter(row.verdict for row in record.verdicts)
    return ", ".join(f"{counts[answer]} {answer}" for answer in ANSWERS if counts[answer])


def claims(record: StudyRecord, scales: Sequence[StudyRecord]) -> Iterator[tuple[str, ...]]:
    """One row per claim: the note's evidence, and the measurement and verdict of each scale."""
    found = [{row.id: row for row in each.verdicts} for each in scales]
    for row in record.verdicts:
        rows = [of_scale.get(row.id) for of_scale in found]
        quoted = f" 「{row.phrase}」" if row.phrase else ""
        named = [(each.scale, one) for each, one in zip(scales, rows, strict=True) if one is not None]
        yield (
            f"`{row.id}` {row.claim}{quoted} ({row.where})",
            row.documented,
            *("-" if one is None else one.measured for one in rows),
            each_scale(named, lambda one: f"**{one.verdict}**"),
            ". ".join(filter(None, [each_scale(named, lambda one: one.reason), row.remark])),
        )


def each_scale(named: Sequence[tuple[str, DecidedClaim]], say: Callable[[DecidedClaim], str]) -> str:
    """`quick: ...; cpu: ...`; without names if there is only one scale."""
    if len(named) == 1:
        return say(named[0][1])
    return "; ".join(f"{scale}: {say(row)}" for scale, row in named)


def sentence_row(sentence: ListedSentence) -> tuple[str, str, str]:
    tested = ", ".join(f"`{id_}`" for id_ in sentence.claims)
    return f"「{sentence.words}」", sentence.where, tested or f"not tested: {sentence.reason}"


def heading(part: PrintedTable) -> str:
    """The title, with the seed if the table shows a single run."""
    return f"{part.title}, seed {part.seeds[0]}" if len(part.seeds) == 1 else part.title


def markdown_cell(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case Quoted(text):
            return text
        case Spread(mean, std, n):
            return f"{mean_and_std(mean, std)} (n = {n})"
        case float():
            return short_value(cell)
    return str(cell)


def markdown_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
