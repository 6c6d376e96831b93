"""The parts of a report, independent of its format."""

from dataclasses import dataclass
from typing import Literal

from mooring.reports._figure import Figure, plotted
from mooring.reports._table import Table

Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Picture:
    """A small picture on the page, as a data address, and what it shows."""

    source: str
    name: str


@dataclass(frozen=True)
class Section:
    """One question: a sentence, the figures, the tables, and texts to be shown as they are."""

    slug: str
    title: str
    lead: str
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()  # (title, text)
    pictures: tuple[tuple[Picture, ...], ...] = ()  # rows of pictures that belong together; on the page alone
    sheets: tuple[Table, ...] = ()  # tables too long for a page: only in workbooks and CSV files

    @property
    def drawn(self) -> tuple[Figure, ...]:
        """Its figures, and the columns of its tables that are drawn."""
        return (*self.figures, *(curves for table in self.tables for curves in plotted(table)))

    @property
    def empty(self) -> bool:
        return not (self.figures or self.tables or self.texts or self.pictures)


@dataclass(frozen=True)
class Card:
    """A headline number, and what it is."""

    value: str
    label: str
    detail: str = ""


@dataclass(frozen=True)
class SummaryAnswer:
    """A question of the summary, the lines of its answer, and a command to paste."""

    question: str
    text: str
    tone: Tone = "open"
    command: str = ""


@dataclass(frozen=True)
class VerdictLine:
    """A verdict at the top of the page; `tone` chooses its badge, and the details unfold."""

    tone: Tone
    badge: str
    text: str
    detail: str = ""
    quote: str = ""  # what the text stands for, in somebody else's words
    why: str = ""  # what the author of the rule has to say
    number: str = ""  # the one that the judgement rests on
    rule: str = ""  # that decided, and what it found
    subject: str = ""  # what it is about; lines of one subject stand together


@dataclass(frozen=True)
class Report:
    """Everything, in the order in which it is read."""

    title: str
    subtitle: str
    cards: tuple[Card, ...]
    verdicts: tuple[VerdictLine, ...]
    sections: tuple[Section, ...]
    command: str = ""  # that makes all of it again
    seeds: tuple[int, ...] = ()
    answers: tuple[SummaryAnswer, ...] = ()
    story: tuple[str, ...] = ()  # a few sentences at the top
    picture: tuple[Figure, ...] = ()  # the figures that it opens with, one above the other

    @property
    def subjects(self) -> dict[str, list[VerdictLine]]:
        """The verdicts by subject, in the order in which these come."""
        found: dict[str, list[VerdictLine]] = {line.subject: [] for line in self.verdicts}
        for line in self.verdicts:
            found[line.subject].append(line)
        return found

    @property
    def tables(self) -> list[Table]:
        return [table for section in self.sections for table in section.tables]

    @property
    def all_tables(self) -> list[Table]:
        """Those too long for a page included."""
        return [table for section in self.sections for table in (*section.tables, *section.sheets)]

    @property
    def figures(self) -> list[Figure]:
        return [*self.picture, *(figure for section in self.sections for figure in section.figures)]

    @property
    def drawn(self) -> list[Figure]:
        return [*self.picture, *(figure for section in self.sections for figure in section.drawn)]
