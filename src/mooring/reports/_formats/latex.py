"""LaTeX with booktabs: a document that compiles as it is, its tables ready to be copied."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from pathlib import Path
from textwrap import wrap

from mooring.record import write_atomically
from mooring.reports._section import Report, Section
from mooring.reports._table import Cell, Table, cell_text
from mooring.wording import printable

LONG = 35  # rows beyond which a table runs over pages
WIDE = 60  # characters beyond which a column breaks its lines
MANY = 12  # columns beyond which a table of fewer rows is turned
LINE, LYING = 112, 170  # small characters in a line of the page, and where the page lies on its side
GAP = 2  # between two columns
SHORT = 12  # characters of a column that is never narrowed
PIECES = re.compile(r"[0-9a-f]{8}(?=[0-9a-f]{8})|.+?(?:[-_.=/·](?=[^-_.=/·])|(?=[0-9a-f]{16})|$)")  # of a long word
PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=2cm]{geometry}
\usepackage{array,booktabs,graphicx,longtable,lscape}
\setlength{\LTcapwidth}{\linewidth}
\makeatletter % tables stand where they are named; copied into a paper, they float as usual
\renewenvironment{table}[1][]{\par\medskip\noindent\begin{minipage}{\linewidth}\centering\def\@captype{table}}{\end{minipage}\par\medskip}
\makeatother
\newsavebox{\fitted}
\newcommand{\fit}[1]{\sbox{\fitted}{#1}\ifdim\wd\fitted>\linewidth\resizebox{\linewidth}{!}{\usebox{\fitted}}\else\usebox{\fitted}\fi}
\DeclareRobustCommand{\eastern}[1]{[needs CJKutf8]}
\DeclareRobustCommand{\easternwords}[1]{\begin{CJK}{UTF8}{gbsn}#1\end{CJK}}
\IfFileExists{CJKutf8.sty}{\usepackage{CJKutf8}\let\eastern\easternwords}{}
"""
FAR_EASTERN = re.compile("[\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")  # beyond what fontenc can set
BREAKABLE = re.compile(f" |{FAR_EASTERN.pattern}")
SPECIAL = {
    "\\": r"\textbackslash{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "–": "--",
    "·": r"$\cdot$",
    "λ": r"$\lambda$",
    "α": r"$\alpha$",
    "γ": r"$\gamma$",
    "σ": r"$\sigma$",
    "→": r"$\to$",
    "×": r"$\times$",
    "\n": " ",
}


def write_latex(report: Report, out: Path) -> None:
    write_atomically(out, latex(report).encode())


def latex(report: Report) -> str:
    head = f"{PREAMBLE}\\title{{{escaped(report.title)}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n"
    sections = [section(part) for part in report.sections if part.tables]
    command = f"\\texttt{{{escaped(report.command)}}}\n\n" if report.command else ""
    return f"{head}{escaped(report.subtitle)}\n\n{command}{''.join(sections)}\\end{{document}}\n"


def section(part: Section) -> str:
    """Tables that are wide and long come last, on pages that lie on their side."""
    head = f"\\section*{{{escaped(part.title)}}}\n{escaped(part.lead)}\n\n"
    standing, lying = ([one for one in part.tables if lies(one) is side] for side in (False, True))
    upright, turned_pages = ("\n".join(map(latex_table, tables)) for tables in (standing, lying))
    if not lying:
        return f"{head}{upright}\n"
    before, inside = (f"{head}{upright}\n", "") if standing else ("", head)
    return f"{before}\\begin{{landscape}}\n{inside}{turned_pages}\\end{{landscape}}\n"


def lies(grid: Table) -> bool:
    return len(grid.rows) > LONG and sum(widths(grid)) > 2 * LINE


def bare_table(grids: Sequence[Table]) -> str:
    """A tabular for `\\input`, which needs booktabs alone; several tables of the same columns are groups of one."""
    if len({grid.columns for grid in grids}) > 1:
        return "\n".join(bare_table([grid]) for grid in grids)
    first = grids[0]
    head = " & ".join(map(escaped, first.columns)) + r" \\"
    groups = []
    for grid in grids:
        title = f"\\multicolumn{{{len(grid.columns)}}}{{l}}{{\\emph{{{escaped(grid.title)}}}}} \\\\\n"
        body = "\n".join(" & ".join(cells(grid, i)) + r" \\" for i in range(len(grid.rows)))
        groups.append((title if len(grids) > 1 else "") + body)
    columns = "".join(column_format(cells) for cells in zip(*(row for grid in grids for row in grid.rows), strict=True))
    body = "\n\\midrule\n".join(groups)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{head}\n\\midrule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"


def latex_table(grid: Table) -> str:
    """Rules above, below the header, and at the end; nothing else."""
    grid = turned(grid) if len(grid.columns) > MANY and len(grid.columns) > len(grid.rows) else grid
    head = " & ".join(map(heading, grid.columns, cell_widths(grid))) + r" \\"
    body = "\n".join(" & ".join(cells(grid, i)) + r" \\" for i in range(len(grid.rows)))
    ruled = f"\\toprule\n{head}\n\\midrule\n"
    caption = f"\\caption{{{escaped(f'{grid.title}. {grid.note}'.strip())}}}"
    label = f"\\label{{tab:{grid.slug}}}"
    columns = "".join(column_format(cells) for cells in zip(*grid.rows, strict=True)) or "l" * len(grid.columns)
    if len(grid.rows) > LONG:
        columns = narrowed(grid, LYING if lies(grid) else LINE) or columns
        inside = f"{caption}{label}\\\\\n{ruled}\\endhead\n{body}\n\\bottomrule\n"
        long = f"\\begin{{longtable}}{{{columns}}}\n{inside}\\end{{longtable}}"
        return f"{{\\scriptsize\\setlength{{\\tabcolsep}}{{3pt}}\n{long}}}\n"
    tabular = f"\\begin{{tabular}}{{{columns}}}\n{ruled}{body}\n\\bottomrule\n\\end{{tabular}}"
    return f"\\begin{{table}}[htbp]\n\\centering\n{caption}{label}\n\\fit{{%\n{tabular}}}\n\\end{{table}}\n"


def heading(name: str, room: int) -> str:
    """In several lines where it is wider than what stands below it."""
    lines = wrap(name, max(room, *map(len, name.split())), break_long_words=False) if name.strip() else []
    if len(lines) < 2:
        return escaped(name)
    stacked = r" \\ ".join(map(escaped, lines))
    return f"\\shortstack[l]{{{stacked}}}"


def cells(grid: Table, row: int) -> list[str]:
    """The best in bold, where that is settled."""
    texts = [escaped(cell_text(cell)) for cell in grid.rows[row]]
    return [f"\\textbf{{{text}}}" if (row, column) in grid.bold else text for column, text in enumerate(texts)]


def column_format(cells: tuple[Cell, ...]) -> str:
    """Text to the left, numbers to the right, long text in a box."""
    if any(isinstance(cell, str) and len(cell) > WIDE and BREAKABLE.search(cell) for cell in cells):
        return "p{7cm}"
    return "l" if any(isinstance(cell, str) for cell in cells) else "r"


def turned(grid: Table) -> Table:
    """Its columns as rows: a page is higher than wide."""
    head, *names = grid.columns
    rows = tuple((name, *(row[i] for row in grid.rows)) for i, name in enumerate(names, 1))
    bold = frozenset((column - 1, row + 1) for row, column in grid.bold if column)
    return replace(grid, columns=(head, *(cell_text(row[0]) for row in grid.rows)), rows=rows, bold=bold)


def cell_widths(grid: Table) -> list[int]:
    """Characters of the longest cell of every column."""
    return [max((len(cell_text(row[i])) for row in grid.rows), default=0) for i in range(len(grid.columns))]


def widths(grid: Table) -> list[int]:
    """The same, or those of the longest word above them."""
    words = [max(map(len, name.split()), default=0) for name in grid.columns]
    return list(map(max, cell_widths(grid), words))


def narrowed(grid: Table, line: int) -> str:
    """Columns of a table that would be wider than the page: what is short keeps its width, the rest share what is left
    by the root of theirs. Empty where all of it fits."""
    wide = widths(grid)
    if sum(wide) + GAP * len(wide) <= line:
        return ""
    left = line - GAP * len(wide) - sum(width for width in wide if width <= SHORT)
    shares = [sqrt(width) if width > SHORT else 0.0 for width in wide]
    boxes = [max(left, SHORT) * share / sum(shares) / line for share in shares]
    kept = [column_format(cells) for cells in zip(*grid.rows, strict=True)]
    return "".join(
        f">{{\\raggedright\\arraybackslash}}p{{{box:.3f}\\linewidth}}" if box else one
        for box, one in zip(boxes, kept, strict=True)
    )


def escaped(text: str) -> str:
    parts = [breakable(word) if len(word) > SHORT else escape_word(word) for word in printable(text).split(" ")]
    return FAR_EASTERN.sub(r"\\eastern{\g<0>}", " ".join(parts))


def breakable(word: str) -> str:
    """A path or a fingerprint, which may go on in the next line: after a sign, or anywhere if there is none."""
    return r"\allowbreak{}".join(map(escape_word, PIECES.findall(word)))


def escape_word(word: str) -> str:
    return "".join(SPECIAL.get(char, char) for char in word)
