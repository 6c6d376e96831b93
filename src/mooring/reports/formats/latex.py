"""LaTeX with booktabs: a document that compiles as it is, its tables ready to be copied."""

import re
from pathlib import Path

from mooring.cells import printable
from mooring.record import Cell, write_atomically
from mooring.reports.section import Report, Section
from mooring.reports.table import Table, shown

LONG = 35  # rows beyond which a table runs over pages
WIDE = 60  # characters beyond which a column breaks its lines
PREAMBLE = r"""\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,graphicx,longtable}
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
    sections = [section(told) for told in report.sections if told.tables]
    command = f"\\texttt{{{escaped(report.command)}}}\n\n" if report.command else ""
    return f"{head}{escaped(report.subtitle)}\n\n{command}{''.join(sections)}\\end{{document}}\n"


def section(told: Section) -> str:
    tables = "\n".join(map(table, told.tables))
    return f"\\section*{{{escaped(told.title)}}}\n{escaped(told.lead)}\n\n{tables}\n\\clearpage\n\n"


def table(told: Table) -> str:
    """Rules above, below the header, and at the end; nothing else."""
    head = " & ".join(map(escaped, told.columns)) + r" \\"
    body = "\n".join(" & ".join(cells(told, i)) + r" \\" for i in range(len(told.rows)))
    ruled = f"\\toprule\n{head}\n\\midrule\n"
    caption = f"\\caption{{{escaped(f'{told.title}. {told.note}'.strip())}}}"
    label = f"\\label{{tab:{told.slug}}}"
    columns = "".join(column(cells) for cells in zip(*told.rows, strict=True)) or "l" * len(told.columns)
    if len(told.rows) > LONG:
        inside = f"{ruled}\\endhead\n{body}\n\\bottomrule\n"
        return (
            f"{{\\scriptsize\n\\begin{{longtable}}{{{columns}}}\n{caption}{label}\\\\\n{inside}\\end{{longtable}}}}\n"
        )
    tabular = f"\\begin{{tabular}}{{{columns}}}\n{ruled}{body}\n\\bottomrule\n\\end{{tabular}}"
    return f"\\begin{{table}}[htbp]\n\\centering\n{caption}{label}\n\\fit{{%\n{tabular}}}\n\\end{{table}}\n"


def cells(told: Table, row: int) -> list[str]:
    """The best in bold, where that is settled."""
    texts = [escaped(shown(cell)) for cell in told.rows[row]]
    return [f"\\textbf{{{text}}}" if (row, column) in told.bold else text for column, text in enumerate(texts)]


def column(cells: tuple[Cell, ...]) -> str:
    """Text to the left, numbers to the right, essays in a box."""
    if any(isinstance(cell, str) and len(cell) > WIDE and BREAKABLE.search(cell) for cell in cells):
        return "p{7cm}"
    return "l" if any(isinstance(cell, str) for cell in cells) else "r"


def escaped(text: str) -> str:
    plain = "".join(SPECIAL.get(char, char) for char in printable(text))
    return FAR_EASTERN.sub(r"\\eastern{\g<0>}", plain)
