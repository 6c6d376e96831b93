"""`mooring check`: is a folder of images sound? Before anything is trained or sent."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, print_json, say
from mooring.errors import ConfigError, DataError

if TYPE_CHECKING:
    from mooring.check import DataCheck, SiteStatistics
    from mooring.data import ImageFolder

SHARE_AGAIN = "make it with mooring check FOLDER --share FILE"
DECIDE = 1  # exit code: something must be decided
CHECKS = Path("checks")
MOST_NAMED = 3  # files of one finding
PAGE, RECORD, PROPOSAL = "check.html", "check.json", "data.yaml"


def check(
    folders: Annotated[
        list[Path], typer.Argument(metavar="FOLDER", help="A folder of images, or files that sites wrote with --share.")
    ],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="How images are read: data.levels=[0,4095].")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write; checks/FOLDER by default.")] = None,
    share: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write sums that sites may exchange; no image is in it.")
    ] = None,
    site: Annotated[
        str | None, typer.Option(help="The name of this site in that file; the folder's by default.")
    ] = None,
    salt: Annotated[
        str | None, typer.Option(help="A word that all sites share; adds a salted hash of every image.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Look for damaged files, misspelt classes, copies, and test images that have a copy in training.

    Exit code 1 when something must be decided. Several files of --share are compared without any image.
    """
    from mooring.cli.progress import show_reading

    if salt is not None and share is None:
        raise ConfigError(["--salt: is used with --share FILE; add it, or leave --salt out"])
    merged = all(path.is_file() for path in folders)
    if not merged and len(folders) > 1:
        raise ConfigError(
            ["check: takes one folder; put the folders of all sites into one, or check one after the other"]
        )
    with show_reading():
        found = together(folders) if merged else of_folder(folders[0], settings or [], salt)
    if share is not None:
        write_share(found, share, site or folders[0].resolve().name)
    place = out or CHECKS / ("sites" if merged else folders[0].resolve().name)
    written = write_check(found, place)
    if json:
        print_json(as_record(found))
    else:
        show_check(found)
        for line in written:
            say(line)
        if share is not None:
            say(f"sums    {share} (no image, no file name)")
    if found.decide:
        raise typer.Exit(DECIDE)


def show_check(found: "DataCheck") -> None:
    """A few lines for each finding, those to decide first."""
    from rich.table import Table
    from rich.text import Text

    from mooring.cli.screen import Screen
    from mooring.wording import plural

    console = Screen()
    held_out = f", {found.held_out:,} held out for testing" if found.held_out else ""
    classes = f"{len(found.classes)} {'class' if len(found.classes) == 1 else 'classes'}"
    console.print(f"{plural(found.images, 'image')}, {plural(len(found.sites), 'site')}, {classes}{held_out}")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for finding in found.findings:
        badge, style = ("decide", "bold red") if finding.decide else ("note", "yellow")
        shown = finding.files[:MOST_NAMED] if finding.decide else ()
        more = len(finding.files) - len(shown)
        lines = [" = ".join(names) for names in shown] + ([f"and {more:,} more, on the page"] if shown and more else [])
        text = Text(f"{finding.text}; {finding.remedy}")
        grid.add_row(Text(badge, style), text + Text("".join(f"\n{line}" for line in lines), "dim"))
    console.print(grid)
    if not found.findings:
        console.print(Text("sound   nothing unusual was found", "green"))


def of_folder(folder: Path, settings: list[str], salt: str | None = None) -> "DataCheck":
    from mooring.check import check_folder

    return check_folder(source_of(folder, settings), salt)


def source_of(folder: Path, settings: list[str]) -> "ImageFolder":
    """The folder as `mooring run` would read it."""
    from mooring.config import load
    from mooring.data import ImageFolder

    if not folder.is_dir():
        raise DataError(f"{folder}: is not a folder", "name a folder with <class>/* or <site>/<class>/*")
    [experiment] = load(None, ["data.source=image_folder", f"data.root={folder}", *settings])
    data = experiment.located().data
    assert isinstance(data, ImageFolder), "the source was named"
    return data


def together(paths: list[Path]) -> "DataCheck":
    from mooring.check import check_sites_together

    return check_sites_together([read_share(path) for path in paths])


def read_share(path: Path) -> "SiteStatistics":
    from mooring.check import SiteStatistics
    from mooring.record import read_json
    from mooring.schema import MalformedRecordError, from_tree

    try:
        read: SiteStatistics = from_tree(SiteStatistics, read_json(path, SHARE_AGAIN))
        return read
    except MalformedRecordError as error:
        raise DataError(f"{path}: {error}", SHARE_AGAIN) from None


def write_share(found: "DataCheck", path: Path, site: str) -> None:
    """The sums of one site; a folder of several sites is at one place already."""
    from dataclasses import replace

    from mooring.record import write_atomically
    from mooring.schema import strict_json

    if len(found.statistics) != 1:
        raise DataError(f"{found.root}: holds {len(found.statistics)} sites", "share the folder of one site")
    own = replace(found.statistics[0], site=site)
    write_atomically(path, f"{strict_json(own, indent=1)}\n".encode())


def write_check(found: "DataCheck", place: Path) -> list[str]:
    """The page, the record and, where the check proposes settings, a file with them; lines that say where they are."""
    from mooring.record import write_atomically
    from mooring.reports import write_data_check
    from mooring.schema import strict_json

    place.mkdir(parents=True, exist_ok=True)
    write_data_check(found, place / PAGE)
    write_atomically(place / RECORD, f"{strict_json(as_record(found), indent=1)}\n".encode())
    lines = [f"page    {place / PAGE} (with small pictures: keep it at the site)", f"record  {place / RECORD}"]
    proposed = proposal(found)
    if proposed:
        from mooring.config import as_yaml

        write_atomically(place / PROPOSAL, as_yaml({"data": proposed}).encode())
        lines.append(f"next    mooring run {place / PROPOSAL}")
    return lines


def proposal(found: "DataCheck") -> dict[str, object]:
    """Settings of `data` that settle what can be settled by settings."""
    settings: dict[str, object] = {}
    if found.mapping:
        settings["classes"] = dict(found.mapping)
    if found.split == "grouped":
        settings["split"] = found.split
    where = {"source": "image_folder", "root": found.root} if found.held_out else {"source": "image_folder"}
    return where | settings if settings else {}


def as_record(found: "DataCheck") -> dict[str, object]:
    """Everything but the pictures and the hashes."""
    from mooring.cli.arguments import as_object

    tree = as_object(found) | {"proposal": proposal(found), "decide": len(found.decide)}
    return {key: value for key, value in tree.items() if key not in ("thumbnails", "statistics")}
