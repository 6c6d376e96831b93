"""A study as a page: documented beside measured, every verdict with its reason."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import fill

from mooring.record import Cell, DecidedClaim, PrintedTable, Quoted, Spread, StudyRecord
from mooring.study.samples import short

WIDTH = 120
READING = (
    "that is compared. Figures are mean ± standard deviation over seeds, on the official test set, after the last "
    "round unless said otherwise. A verdict is decided by the rule that stands beside its claim in the study's file; "
    "with this few seeds it says what these runs show, and is no law."
)

EXCEL = "the Excel report of this folder (`mooring report FOLDER --format excel`)"


def page(told: StudyRecord) -> str:
    """Markdown of what `study.json` says."""
    return "\n".join(lines(told)) + "\n"


def lines(told: StudyRecord) -> Iterator[str]:
    counts = Counter(row.verdict for row in told.verdicts)
    yield f"# Study {told.study}: {told.title}\n"
    yield fill(told.about, WIDTH) + "\n"
    yield f"```text\n{told.command}\n```\n"
    seeds = ", ".join(map(str, told.seeds))
    scale = f"Scale `{told.scale}`: {told.scale_about} Seeds {seeds}: each has its own partition, the same for all "
    yield fill(scale + READING, WIDTH) + "\n"
    yield f"Of {len(told.verdicts)} claims: {', '.join(f'{n} {verdict}' for verdict, n in counts.most_common())}.\n"
    if told.missing:
        yield fill(f"**Not finished, and missing below:** {', '.join(told.missing)}.", WIDTH) + "\n"
    yield "## Claims\n"
    yield from table(("claim", "the note says", "measured", "verdict", "why"), map(row_of, told.verdicts))
    for part in told.tables:
        yield f"\n## {heading(part)}\n"
        yield from table(part.columns, ([shown(cell) for cell in row] for row in part.rows))
    if told.courses:
        named = ", ".join(course.name for course in told.courses)
        yield "\n" + fill(f"Every round of every client is in {EXCEL}: {named}.", WIDTH)
    yield "\n## Runs\n"
    yield f"Settings: `{' '.join(told.settings)}`.\n"
    rows = [(r.sweep, r.run, f"{r.accuracy:.3f}", str(r.fingerprint)[:8]) for r in told.runs]
    yield from table(("sweep", "run", "accuracy", "fingerprint of the training"), rows)


def heading(part: PrintedTable) -> str:
    """A table of one run says which; one over several says so in every cell."""
    return f"{part.title}, seed {part.seeds[0]}" if len(part.seeds) == 1 else part.title


def shown(cell: Cell) -> str:
    match cell:
        case None:
            return "-"
        case Quoted(text):
            return text
        case Spread(mean, std, n):
            return f"{short(mean)}{'' if std is None else f' ± {short(std)}'} (n = {n})"
        case float():
            return short(cell)
    return str(cell)


def row_of(row: DecidedClaim) -> tuple[str, ...]:
    quoted = f" 「{row.phrase}」" if row.phrase else ""
    return f"{row.claim}{quoted} ({row.where})", row.documented, row.measured, f"**{row.verdict}**", row.why


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield "|" + "---|" * len(columns)
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
