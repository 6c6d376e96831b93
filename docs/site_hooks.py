"""What MkDocs does not do by itself: patterns in the nav, pages and links outside docs/, equations without a script.

The same files are read on GitHub, so nothing in them is written for the site alone.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from html import unescape
from os.path import normpath, relpath
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the nav is tested without MkDocs
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

HOME = Path(__file__).parents[1]
GUESTS = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}  # pages that live outside docs/
MOVED = {**GUESTS, "README.md": "index.md", "README.zh-CN.md": "index.md"}
LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
MATHS = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Examples in docstrings (`>>> ...`) are shown as code; Markdown alone would take them for quotations."""
    from markdown import Extension, Markdown
    from markdown.preprocessors import Preprocessor

    class AsCode(Preprocessor):
        def run(self, lines: list[str]) -> list[str]:
            return with_examples_as_code(lines)

    class Examples(Extension):
        def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
            md.preprocessors.register(AsCode(md), "examples", 40)  # before fenced code is looked for

    config.markdown_extensions.append(Examples())  # type: ignore[arg-type]
    return config


def with_examples_as_code(lines: list[str]) -> list[str]:
    """From a line that begins with `>>> ` to the next empty one: a fenced block."""
    told: list[str] = []
    inside = False
    for line in [*lines, ""]:
        if line.startswith(">>> ") and not inside:
            told, inside = [*told, "```python"], True
        if inside and not line.strip():
            told, inside = [*told, "```"], False
        told.append(line)
    return told[:-1]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    for name, uri in GUESTS.items():
        files.append(File.generated(config, uri, abs_src_path=str(HOME / name)))
    pages = [file.src_uri for file in files.documentation_pages()]
    config.nav = expanded(config.nav, pages)
    return files


def expanded(nav: list[Any], pages: list[str]) -> list[Any]:
    """The nav with every pattern replaced by the pages that are still unnamed and fit it."""
    free = sorted(set(pages) - set(named(nav)), key=natural)

    def taken(pattern: str) -> list[str]:
        found = [page for page in free if fnmatch(page, pattern) and page.count("/") == pattern.count("/")]
        free[:] = [page for page in free if page not in found]
        return found

    def walk(entry: Any) -> list[Any]:
        match entry:
            case dict():
                [(title, content)] = entry.items()
                found = walk(content)
                return [{title: content if found == [content] else found}] if found else []
            case list():
                return [found for part in entry for found in walk(part)]
            case _:
                return taken(entry) if "*" in entry else [entry]

    return walk(nav)


def named(nav: Any) -> list[str]:
    match nav:
        case dict():
            return named([*nav.values()])
        case list():
            return [page for part in nav for page in named(part)]
        case _:
            return [nav]


def natural(name: str) -> list[tuple[int, str]]:
    """v9 comes before v10, and v7 before v7-constant."""
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name.removesuffix(".md"))]


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links lead to pages of the site; what has no page there (source files) keeps its text alone."""
    if page.parent is None:
        page.meta["hide"] = ["navigation"]  # a page without neighbours needs no list of them
    [name] = [name for name, uri in GUESTS.items() if uri == page.file.src_uri] or [f"docs/{page.file.src_uri}"]

    def led(link: re.Match[str]) -> str:
        target = normpath(PurePosixPath(name).parent / link["path"])
        uri = MOVED.get(target, target.removeprefix("docs/") if target.startswith("docs/") else None)
        if uri is None or uri.endswith(".py"):
            return link["text"]
        if (HOME / "docs" / uri / "README.md").exists():
            uri += "/README.md"
        there = relpath(uri, PurePosixPath(page.file.src_uri).parent)
        return f"{link['mark']}[{link['text']}]({there}{link['anchor'] or ''})"

    return LINK.sub(led, markdown).replace("```python entry", "```python")


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Equations as MathML, which browsers draw themselves."""
    from latex2mathml.converter import convert

    def drawn(found: re.Match[str]) -> str:
        display = "block" if found[1] == "div" else "inline"
        return convert(unescape(found[2]).strip(), display=display)

    return MATHS.sub(drawn, html)
