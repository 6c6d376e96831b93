"""Put the page together: everything is escaped, plotly.js is inlined once."""

import json
import re
from base64 import b64encode
from html import escape
from importlib.resources import files
from string import Template

from mooring.reports.extra import needed
from mooring.reports.figure import Curves, Figure
from mooring.reports.formats.csv import csv_text
from mooring.reports.page.traces import plotly
from mooring.reports.section import Card, Report, Section, Verdict
from mooring.reports.table import Table, shown

FEW_ROWS = 10  # a longer table is folded
FEW_LINES = 6  # of a figure that fits into half a page


def page(report: Report) -> str:
    parts = {
        "title": escape(report.title),
        "subtitle": escape(report.subtitle),
        "command": f'<p class="command"><code>{escape(report.command)}</code></p>' if report.command else "",
        "navigation": "".join(f'<a href="#{s.slug}">{escape(s.title)}</a>' for s in report.sections),
        "cards": "".join(map(card, report.cards)),
        "verdicts": verdicts(report.verdicts),
        "sections": "".join(map(section, report.sections)),
        "style": asset("style.css"),
        "script": asset("page.js"),
        "figures": embedded([plotly(figure) for figure in report.figures]),
        "plotly": needed("plotly.offline").get_plotlyjs(),
    }
    numbered = iter(range(len(report.figures)))
    parts["sections"] = re.sub('data-figure=""', lambda _: f'data-figure="{next(numbered)}"', parts["sections"])
    return Template(asset("template.html")).substitute(parts)


def asset(name: str) -> str:
    return files("mooring.reports.page").joinpath(name).read_text("utf-8")


def embedded(value: object) -> str:
    """JSON inside a script element: no `<` can end it."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def prose(text: str) -> str:
    """Escaped; `code` in backquotes."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def card(told: Card) -> str:
    detail = f"<small>{escape(told.detail)}</small>" if told.detail else ""
    return f'<div class="card"><b>{escape(told.value)}</b><span>{escape(told.label)}</span>{detail}</div>'


def verdicts(told: tuple[Verdict, ...]) -> str:
    items = "".join(
        f'<li><span class="badge {v.tone}">{escape(v.badge)}</span><div>{escape(v.text)}'
        f"{f'<q>{escape(v.quote)}</q>' if v.quote else ''}"
        f"{f'<small>{escape(v.detail)}</small>' if v.detail else ''}"
        f"{f'<small>why: {escape(v.why)}</small>' if v.why else ''}</div></li>"
        for v in told
    )
    return f'<ul class="verdicts">{items}</ul>' if items else ""


def section(told: Section) -> str:
    figures = "".join(map(figure, told.figures))
    body = [
        f'<section id="{told.slug}"><h2>{escape(told.title)}</h2><p class="lead">{prose(told.lead)}</p>',
        choice(told.figures),
        f'<div class="figures">{figures}</div>' if figures else "",
        *map(table, told.tables),
        *(
            f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"
            for title, text in told.texts
        ),
        "</section>",
    ]
    return "".join(body)


def choice(figures: tuple[Figure, ...]) -> str:
    """Which run is drawn, where several could be."""
    runs = list(dict.fromkeys(figure.of for figure in figures if figure.of))
    if len(runs) < 2:
        return ""
    options = "".join(f"<option>{escape(run)}</option>" for run in runs)
    return f'<label class="choice">Run <select>{options}</select></label>'


def figure(told: Figure) -> str:
    of = f' <span class="of">{escape(told.of)}</span>' if told.of else ""
    return (
        f'<figure data-of="{escape(told.of)}"{wide(told)}><h3>{escape(told.title)}{of}</h3>'
        f'<div class="chart" data-figure="" role="img" aria-label="{escape(told.caption)}"></div>'
        f"<figcaption>{prose(told.caption)}</figcaption></figure>"
    )


def wide(told: Figure) -> str:
    """Many lines need the whole width."""
    families = {line.family or line.name for line in told.lines} if isinstance(told, Curves) else set()
    return ' class="wide"' if len(families) > FEW_LINES else ""


def table(told: Table) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in told.columns)
    rows = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in told.rows)
    note = f"<p class='note'>{prose(told.note)}</p>" if told.note else ""
    data = b64encode(csv_text(told).encode()).decode()
    link = f'<a class="csv" download="{escape(told.slug)}.csv" href="data:text/csv;base64,{data}">CSV</a>'
    unfolded = " open" if len(told.rows) <= FEW_ROWS else ""
    count = "" if unfolded else f" <small>{len(told.rows)} rows</small>"
    return (
        f'<details class="table"{unfolded}><summary>{escape(told.title)}{count}{link}</summary>'
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}</details>'
    )


def cell(value: object) -> str:
    kind = "text" if isinstance(value, str) else "number"
    wide = " wide" if isinstance(value, str) and len(value) > 24 else ""
    return f'<td class="{kind}{wide}">{escape(shown(value))}</td>'
