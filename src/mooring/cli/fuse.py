"""`mooring fuse`: the files of sites into one model, or other fusions over the uploads of a finished run."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, TrustCode, print_json, say
from mooring.cli.other_fusions import OfRun, fuse_run
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from mooring.federation.coordinator import Made
    from mooring.federation.encoder_kept import EncoderKept

USUAL_FUSIONS = "feature-ensemble,count-weighted,class-expert"
USUAL_MODEL = Path("model.mooring")


@dataclass(frozen=True)
class OfFiles:
    """What is asked of the files of sites."""

    paths: list[Path]  # the job first, unless there is a model to change
    into: Path | None
    out: Path
    need: int
    strict: bool
    without: tuple[str, ...]
    encoder: str | None
    in_model: "EncoderKept"
    page: Path | None  # for people
    held_out: Path | None
    json: bool


def fuse(  # noqa: PLR0913, PLR0917
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="JOB UPLOAD... | RUN [KEY=VALUE]",
            help="A job file and the uploads of its sites; or the folder of a finished run, and settings such as "
            "fusion.ridge=0.1, or data.root=... if the data has moved.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to write the model; model.mooring by default, of a run nothing.")
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a page for people: model.html, or a FILE.html named after it.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Images nobody trained on, for the page: a folder per class."),
    ] = None,
    need: Annotated[int, typer.Option(help="Refuse to fuse fewer sites.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Stop when a file is set aside.")] = False,
    into: Annotated[
        Path | None, typer.Option(help="A model that the uploads join, or that sites of --without leave.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="Where the encoder's file lies, if the job names one by its SHA-256.")
    ] = None,
    include_encoder: Annotated[
        bool,
        typer.Option("--include-encoder", help="Put the encoder into the model, if its licence allows; else its hash."),
    ] = False,
    without: Annotated[str | None, typer.Option(help="All but these sites, or clients of a run, e.g. 1.")] = None,
    fusion: Annotated[
        str, typer.Option("--fusion", "-f", help="Of a run: a rule, several with commas, or all.")
    ] = USUAL_FUSIONS,
    clients: Annotated[str | None, typer.Option(help="Of a run: only these clients, e.g. 0,2-4.")] = None,
    at_round: Annotated[
        int | None, typer.Option("--round", help="Of a run: a round that was kept, from 0; else the last.")
    ] = None,
    trust_code: TrustCode = False,
    json: AsJson = False,
) -> None:
    """Fuse the files of sites into one model: mooring fuse job.mooring north.mooring south.mooring

    Whoever cannot be trusted is set aside with the reason. Or fuse the uploads of a run by other rules, without
    training anything again: mooring fuse RUN --fusion class-expert --without 3
    """
    given = words or []
    if into is None and not given:
        raise ConfigError(["fuse: names nothing; give a job file and uploads, or the folder of a run"])
    kept: EncoderKept = "included" if include_encoder else "named"
    if into is not None or is_job(given[0]):
        if (fusion, clients, at_round) != (USUAL_FUSIONS, None, None):
            raise ConfigError(["--fusion, --clients, --round: are for runs; a job has one fusion and one round"])
        leaving = tuple(part.strip() for part in (without or "").split(",") if part.strip())
        model = out or into or USUAL_MODEL
        page, paths = page_among(given, model) if report else (None, list(map(Path, given)))
        federate(OfFiles(paths, into, model, need, strict, leaving, encoder, kept, page, data, json))
        return
    if strict or need != 1 or encoder is not None:
        raise ConfigError([f"{given[0]}: is no job file; --need, --strict and --encoder are for one"])
    if include_encoder and out is None:
        raise ConfigError(["--include-encoder: is for a model; say --out too"])
    if report or data is not None:
        raise ConfigError([f"{given[0]}: is no job file; the page on a run is that of mooring report"])
    fuse_run(OfRun(given[0], given[1:], fusion, clients, without, at_round, trust_code, out, kept, json))


def page_among(words: list[str], model: Path) -> tuple[Path, list[Path]]:
    """The page that is named after --report, or the one beside the model; and the other files."""
    paths = list(map(Path, words))
    pages = [path for path in paths if path.suffix.lower() in (".html", ".htm")]
    if len(pages) > 1:
        raise ConfigError([f"--report: {pages[0]} and {pages[1]} are two pages; name one"])
    return pages[0] if pages else model.with_suffix(".html"), [path for path in paths if path not in pages]


def is_job(word: str) -> bool:
    """A run is a folder; what begins as a .mooring file is one."""
    path = Path(word)
    if not path.is_file() and path.suffix != ".mooring":
        return False
    from mooring.federation.container import is_container

    return is_container(path) or not path.is_dir()


def federate(asked: OfFiles) -> None:
    """The files of sites become one model."""
    from mooring.federation.coordinator import Coordinator
    from mooring.federation.fuse import Terms
    from mooring.federation.keys import home, own_identity
    from mooring.federation.log import Log

    if asked.held_out is not None and asked.page is None:
        raise ConfigError(["--data: is for the page; say --report too"])
    coordinator = Coordinator(own_identity(), Log(home()), asked.encoder, asked.in_model)
    terms = Terms(asked.need, asked.strict, asked.without)
    if asked.into is not None:
        made = coordinator.fuse_into(asked.into, asked.paths, asked.out, terms)
    else:
        job, *uploads = asked.paths
        made = coordinator.fuse(job, uploads, asked.out, terms)
    if asked.page is not None:
        write_page(made, asked.page, asked.held_out, asked.encoder)
    if asked.json:
        print_json({"path": str(made.path), "sha256": made.sha256, "sites": made.fused.decisions})
        return
    from mooring.cli.federation_tables import show_made

    show_made(made)
    if asked.page is not None:
        say(f"{asked.page}: a page for people")


def write_page(made: "Made", page: Path, held_out: Path | None, encoder: str | None) -> None:
    """Who contributed; how good the model is on images of yours, and would be without each site."""
    from mooring.federation.assessment import assess
    from mooring.federation.kept_uploads import read_kept
    from mooring.federation.keys import own_identity
    from mooring.federation.leave_one_out import without_each
    from mooring.federation.model_file import load_model
    from mooring.reports.models import Findings, write_model_page

    model = load_model(made.path, encoder=encoder)
    remarks = tuple((decision.site, note) for decision in made.fused.decisions for note in decision.notes)
    findings = Findings(remarks=remarks, file_sha256=made.sha256)
    if held_out is not None:
        kept = read_kept(made.path, own_identity().public, encoder)
        findings = replace(findings, measured=assess(model, held_out), without=without_each(model, kept, held_out))
    write_model_page(model, page, findings)
