"""`mooring methods`, `mooring fusions` and `mooring show`: what there is, and what it is made of."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, print_json
from mooring.errors import ConfigError, nearest

if TYPE_CHECKING:
    from mooring.fusion import Fusion
    from mooring.methods import Method

WordArgument = Annotated[str, typer.Argument(metavar="[WORD]", help="Filter by name, group, sentence or source.")]
NAME = 20  # letters of the first column; a longer name has a line of its own
WIDEST, NARROW = 100, 78  # letters of a line, and of a comment
MARK = "\0"  # where the bracket behind a sentence opens
MODEL = {"encoder", "prototypes"}  # parts that together are a client's model


@dataclass(frozen=True)
class Listed:
    """A method or a fusion of the list."""

    group: str
    name: str
    about: str
    source: str
    uploads: str
    cost: str

    @property
    def facts(self) -> str:
        return f"uploads {self.uploads}; {self.cost}"

    def has(self, word: str) -> bool:
        texts = (self.group, self.name, self.about, self.source, self.uploads)
        return any(word.lower() in text.lower() for text in texts)


FIRST = (  # methods that a newcomer needs, in the order of the list
    *("trained-and-sums", "v4", "v7", "v12", "fedavg-1", "ensemble", "dense", "local-only", "centralised"),
    *("mooring", "public-encoder", "afl"),
)


def methods(
    word: WordArgument = "",
    every: Annotated[bool, typer.Option("--all", help="All methods, with their source and cost.")] = False,
    json: AsJson = False,
) -> None:
    """List the methods to begin with, by track; --all lists all of them.

    Filter all methods by a word: mooring methods lambda, mooring methods 2024
    """
    from mooring.methods import GROUPS, METHODS

    rows = [
        Listed(group, name, method.about, method.reference, uploads_of(method.fusion), cost_of_method(name))
        for group, members in GROUPS.items()
        for name, method in members.items()
    ]
    found = matching_rows(rows, word, "method")
    if json:
        print_json(
            [
                {"method": row.name, "track": METHODS[row.name].track, "fusion": kind_of(row.name), **row_tree(row)}
                for row in found
            ]
        )
    elif word or every:
        show_list(found)
    else:
        show_first()


def show_first() -> None:
    """A line per method, by track: compare within a track only."""
    from textwrap import shorten

    from rich.text import Text

    from mooring.cli.screen import Screen
    from mooring.methods import METHODS, TRACKS

    screen = Screen(soft_wrap=True)
    for track in TRACKS:
        names = [name for name in FIRST if METHODS[name].track == track]
        if names:
            screen.print(Text(track, "bold cyan"))
        for name in names:
            about = shorten(METHODS[name].about, min(screen.width, WIDEST) - NAME - 3, placeholder=" ...")
            screen.print(Text.assemble("  ", (f"{name:<{NAME}} ", "bold"), about))
    screen.print(Text(f"{len(METHODS)} methods: mooring methods --all; one of them: mooring show NAME", "dim"))


def fusions(word: WordArgument = "", json: AsJson = False) -> None:
    """List fusions: what each computes, its source, what a client uploads, what it costs.

    Filter by a word: mooring fusions average, mooring fusions moments
    """
    from mooring.fusion import FUSIONS

    rows = [
        Listed(rule.group, kind, rule.about, rule.reference, uploads_of(rule()), cost_of_fusion(rule()))
        for kind, rule in FUSIONS.items()
    ]
    found = matching_rows(rows, word, "fusion")
    if json:
        asked = {row.name: " and ".join(f"{images} images" for images in FUSIONS[row.name]().asks) for row in found}
        print_json([{"fusion": row.name, "server": asked[row.name]} | row_tree(row) for row in found])
        return
    show_list(found)


def matching_rows(rows: Sequence[Listed], word: str, what: str) -> list[Listed]:
    found = [row for row in rows if row.has(word)]
    if not found:
        raise ConfigError([f"{word}: no {what} has this word; {nearest(word, [row.name for row in rows])}"])
    return found


def row_tree(row: Listed) -> dict[str, str]:
    return {"group": row.group, "about": row.about, "source": row.source, "uploads": row.uploads, "cost": row.cost}


def uploads_of(fusion: "Fusion | None") -> str:
    """`model, label counts`; a model is encoder and prototypes."""
    if fusion is None:
        return "nothing"
    kinds = {part.kind for part in fusion.needs}
    rest = kinds - MODEL if kinds >= MODEL else kinds
    return ", ".join([*(["model"] if kinds >= MODEL else []), *sorted(kind.replace("-", " ") for kind in rest)])


def kind_of(name: str) -> str | None:
    from mooring.methods import METHODS

    fusion = METHODS[name].fusion
    return None if fusion is None else fusion.kind


def cost_of_fusion(fusion: "Fusion") -> str:
    """What fusing costs the server, and the images that it must hold."""
    needs = "".join(f"; needs {images} images" for images in sorted(fusion.asks))
    return f"server: {fusion.cost}{needs}"


def cost_of_method(name: str) -> str:
    from mooring.methods import METHODS

    method = METHODS[name]
    clients = "clients train" if method.client.terms else "clients look at their images once"
    bank = "; needs public images" if method.bank is not None else ""
    return f"{clients}{bank}; {'nothing is fused' if method.fusion is None else f'fusion {method.fusion.kind}'}"


def show_list(rows: Sequence[Listed]) -> None:
    """A name, its sentence and whose it is; what a whole group uploads and costs is printed once."""
    from textwrap import wrap

    from rich.text import Text

    from mooring.cli.screen import Screen

    screen = Screen(soft_wrap=True)
    width = min(screen.width, WIDEST)
    for at, (group, grouped) in enumerate(groupby(rows, lambda row: row.group)):
        members = list(grouped)
        common = len({row.facts for row in members}) == 1 and len(members) > 1
        screen.print(Text(f"{'' if at == 0 else chr(10)}{group}", "bold cyan"))
        if common:
            screen.print(Text("\n".join(wrap(f"each {members[0].facts}", width)), "dim"))
        for row in members:
            source = row.source if common else f"{row.source}; {row.facts}"
            lines = wrap(f"{row.about} {MARK}{source})", width - NAME - 1, break_on_hyphens=False)
            lines = [*([""] if len(row.name) > NAME else []), *lines]
            block = f"\n{' ' * (NAME + 1)}".join([f"{row.name:<{NAME}} {lines[0]}".rstrip(), *lines[1:]])
            text = Text(block.replace(MARK, "("))
            text.stylize("bold", 0, len(row.name))
            text.stylize("dim", block.index(MARK))
            screen.print(text)


def show(
    method: Annotated[str, typer.Argument(help="A method's name, or package.module:NAME of your own.")],
    json: AsJson = False,
) -> None:
    """Explain a method: formulas, source, purpose. Then its full tree of settings.

    For example: mooring run method=v7 method.client.align.weight.base.value=3
    """
    from mooring.config import ALL_CODE, as_yaml, named_method
    from mooring.schema import to_tree

    found = named_method(method, ALL_CODE)
    tree = {"method": {"name": method, **to_tree(found)}}
    if json:
        print_json(tree)
        return
    from textwrap import wrap

    lines = (row for line in explanation(method, found) for row in wrap(line, NARROW, subsequent_indent=" " * 6))
    comments = "\n".join(f"# {line}" for line in lines)
    typer.echo(f"{comments}\n{as_yaml(tree)}", nl=False)


def explanation(name: str, method: "Method") -> Iterator[str]:
    """What it does, its formulas by part, its source and what it is for."""
    from mooring.methods import GROUPS

    yield f"{name}: {method.about or 'no description'}"
    align = method.client.align
    parts = {
        **{part.kind: part for part in method.client.terms},
        **({} if align is None else {f"alignment, {align.term.kind}": align.term, "lambda": align.weight}),
        **({} if method.fusion is None else {f"fusion, {method.fusion.kind}": method.fusion}),
    }
    for title, part in parts.items():
        for at, line in enumerate(formula_of(type(part))):
            yield f"  {f'{title}: ' if at == 0 else '    '}{line.strip()}"
    yield f"source: {method.reference or 'not given'}"
    group = next((group for group, members in GROUPS.items() if name in members), "a method of your own")
    yield f"for: {group}; track: {method.track}; uploads {uploads_of(method.fusion)}"


def formula_of(part: type) -> list[str]:
    """The first paragraph of its documentation, which is its equation; nothing where Python wrote it."""
    text = inspect.getdoc(part) or ""
    return [] if text.startswith(f"{part.__name__}(") else text.partition("\n\n")[0].splitlines()
