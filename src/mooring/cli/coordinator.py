"""`mooring plan` and `fuse-files` for the coordinator of a federation by file, and `mooring flower`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, print_json, say
from mooring.cli.site import key_in, pairs, split_commas
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from mooring.config import Experiment
    from mooring.federation import EncoderKept, Made, Terms

USUAL_MODEL = Path("model.mooring")


def plan(  # noqa: PLR0913, PLR0917
    classes: Annotated[str, typer.Option(help="Names of the classes, with commas.")],
    sites: Annotated[str, typer.Option(help="Names of the sites, with commas.")],
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]", help="Settings such as seed=3 or fusion.prior=uniform.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="A method, mooring by default; mooring methods lists them.")
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option(help="none, a built-in name, FILE.onnx or FILE.safetensors; default: by the images."),
    ] = None,
    size: Annotated[int | None, typer.Option(help="Pixels per side; by default what the encoder takes.")] = None,
    channels: Annotated[int | None, typer.Option(help="1 for grey images, 3 for colour.")] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="SITE=KEY: its public key, or the file of mooring keys --out."),
    ] = None,
    secure_sum: Annotated[
        bool, typer.Option("--secure-sum", help="The coordinator sees only the sum over sites; every site needs a key.")
    ] = False,
    images: Annotated[int, typer.Option(help="An upper bound for all sites together, which a secure sum needs.")] = (
        10**6
    ),
    withhold_counts: Annotated[
        bool,
        typer.Option("--withhold-counts", help="Sites do not send how many images they have; all get the same weight."),
    ] = False,
    epsilon: Annotated[
        float | None,
        typer.Option(help="Add noise at every site that hides any single image; a smaller value hides more."),
    ] = None,
    delta: Annotated[float, typer.Option(help="The probability with which --epsilon may fail.")] = 1e-5,
    minimum: Annotated[int, typer.Option(help="Fewest images that a site may have of a class it has.")] = 10,
    most_images: Annotated[
        int | None,
        typer.Option(help="Most images that a site may have. By default no limit."),
    ] = None,
    expires: Annotated[str | None, typer.Option(help="The day on which the job expires; by default in 90 days.")] = (
        None
    ),
    out: Annotated[Path, typer.Option(help="Where to write the job file.")] = Path("job.mooring"),
    json: AsJson = False,
) -> None:
    """Write the job file for all sites: what to learn, how, and what to send back. Reads no data."""
    words = ["training.snapshots=last", "data.source=image_folder"]
    if method is None and not any(word.partition("=")[0] == "method" for word in settings or ()):
        method = "mooring"
    given = {"method": method, "encoder": encoder, "data.size": size, "data.channels": channels}
    words += [f"{name}={value}" for name, value in given.items() if value is not None]
    words += settings or ()  # after the options: they may say more of what an option names
    if epsilon is not None:
        words.append(f"fusion.privacy={{kind: gaussian-noise, epsilon: {epsilon!r}, delta: {delta!r}}}")
    experiment = one_experiment(words)
    from mooring.federation import Log, home, own_identity, parse_time, write_container
    from mooring.federation import plan as plan_job

    identity = own_identity()
    data, job = plan_job(
        experiment,
        split_commas(classes),
        split_commas(sites),
        identity,
        keys={name: key_in(key_text) for name, key_text in pairs("key", key, "SITE=KEY").items()},
        minimum=minimum,
        expires=None if expires is None else parse_time(expires),
        secure_images=images if secure_sum else None,
        counts="withheld" if withhold_counts else "told",
        most_images=most_images,
    )
    write_container(out, data)
    Log(home()).note("planned", job.sha256, who=identity.public, words=job.manifest.method)
    if json:
        print_json({"path": str(out), "job": job.sha256, "manifest": job.manifest})
        return
    from mooring.cli.federation_tables import show_job

    show_job(job, experiment.why)
    say(f"\n{out}: send it to every site")
    say("and tell the sites your fingerprint by another way than the file")


def one_experiment(words: list[str]) -> "Experiment":
    from mooring.config import load

    experiments = load(None, words)
    if len(experiments) > 1:
        raise ConfigError(["--method: a job has one method; plan one job for each"])
    return experiments[0]


@dataclass(frozen=True)
class OfFiles:
    """What is asked of the files of sites."""

    paths: list[Path]  # the job first, unless there is a model to change
    into: Path | None
    out: Path
    terms: "Terms"
    encoder: str | None
    in_model: "EncoderKept"
    page: Path | None  # for people
    held_out: Path | None
    json: bool


def fuse_files(  # noqa: PLR0913, PLR0917
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="JOB UPLOAD...", help="A job file and the uploads of its sites."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the model; model.mooring by default.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Also write a page: model.html, or a FILE.html named after it.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FOLDER", help="Images no site trained on, for the page: a folder per class."),
    ] = None,
    need: Annotated[int, typer.Option(help="Fail if fewer sites can be fused.")] = 1,
    strict: Annotated[bool, typer.Option("--strict", help="Stop when a file is set aside.")] = False,
    into: Annotated[
        Path | None, typer.Option(help="A model that the uploads join, or that sites of --without leave.")
    ] = None,
    without: Annotated[str | None, typer.Option(help="All but these sites, with commas.")] = None,
    keep: Annotated[
        list[str] | None, typer.Option(metavar="SITE", help="Use this site although it is unusual; repeatable.")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(metavar="SITE", help="Leave this site out after review; repeatable.")
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="The encoder's file, if the job or model names it by its SHA-256.")
    ] = None,
    include_encoder: Annotated[
        bool,
        typer.Option("--include-encoder", help="Put the encoder into the model, if its licence allows; else its hash."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Fuse the files of sites into one model: mooring fuse-files job.mooring north.mooring south.mooring

    A file that breaks a rule of the job is set aside, and the reason is shown. If a site is unusual, nothing is fused
    (exit code 2): decide with --keep SITE or --drop SITE. To fuse a run by other rules, use mooring fuse.
    """
    given = files or []
    if into is None and not given:
        raise ConfigError(["fuse-files: no file is named; give a job file and the uploads of its sites"])
    if into is None and Path(given[0]).is_dir():
        raise ConfigError([f"{given[0]}: is a folder, not a job file; fuse a run with: mooring fuse {given[0]}"])
    from mooring.federation import Terms

    terms = Terms(need, strict, tuple(split_commas(without or "")), named_sites(keep), named_sites(drop))
    model = out or into or USUAL_MODEL
    page, paths = page_among(given, model) if report else (None, list(map(Path, given)))
    kept: EncoderKept = "included" if include_encoder else "named"
    federate(OfFiles(paths, into, model, terms, encoder, kept, page, data, json))


def named_sites(values: list[str] | None) -> tuple[str, ...]:
    """The sites of an option that may be repeated, each value one name or several with commas."""
    return tuple(dict.fromkeys(site for value in values or () for site in split_commas(value)))


def page_among(words: list[str], model: Path) -> tuple[Path, list[Path]]:
    """The page that is named after --report, or the one beside the model; and the other files."""
    paths = list(map(Path, words))
    pages = [path for path in paths if path.suffix.lower() in (".html", ".htm")]
    if len(pages) > 1:
        raise ConfigError([f"--report: {pages[0]} and {pages[1]} are two pages; name one"])
    return pages[0] if pages else model.with_suffix(".html"), [path for path in paths if path not in pages]


def federate(asked: OfFiles) -> None:
    """The files of sites become one model."""
    from mooring.federation import Coordinator, Log, home, own_identity

    if asked.held_out is not None and asked.page is None:
        raise ConfigError(["--data: is for the page; add --report"])
    coordinator = Coordinator(own_identity(), Log(home()), asked.encoder, asked.in_model)
    if asked.into is not None:
        made = coordinator.fuse_into(asked.into, asked.paths, asked.out, asked.terms)
    else:
        job, *uploads = asked.paths
        made = coordinator.fuse(job, uploads, asked.out, asked.terms)
    if asked.page is not None:
        write_page(made, asked.page, asked.held_out, asked.encoder)
    if asked.json:
        print_json(
            {"path": str(made.path), "sha256": made.sha256, "sites": made.fused.decisions, "heads": made.fused.heads}
        )
        return
    from mooring.cli.federation_tables import show_made

    show_made(made)
    if asked.page is not None:
        say(f"{asked.page}: a page for people")


def write_page(made: "Made", page: Path, held_out: Path | None, encoder: str | None) -> None:
    """Who contributed; how good the model is on images of yours, and would be without each site."""
    from mooring.federation import assess, load_model, own_identity, read_kept, without_each
    from mooring.reports import Findings, write_model_page

    model = load_model(made.path, encoder=encoder)
    remarks = tuple((decision.site, note) for decision in made.fused.decisions for note in decision.notes)
    findings = Findings(remarks=remarks, file_sha256=made.sha256)
    if held_out is not None:
        kept = read_kept(made.path, own_identity().public, encoder)
        findings = replace(findings, measured=assess(model, held_out), without=without_each(model, kept, held_out))
    write_model_page(model, page, findings)


def flower_keys(
    sites: Annotated[list[str], typer.Argument(metavar="SITE...", help="Names of the sites.")],
    out: Annotated[Path, typer.Option(help="An empty folder, or one that is not there yet.")] = Path("federation"),
    host: Annotated[str, typer.Option(help="Name or address of the SuperLink's machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Where it listens.")] = 8000,
) -> None:
    """Make TLS certificates and SuperNode keys for a test federation over Flower."""
    from mooring.flower_app import CONNECTION, make_keys

    made = make_keys(out, sites, host, port)
    say(f"written: {made.folder}: ca.crt, superlink.crt and .key, a key for {', '.join(made.sites)}")
    say(f"give each site its folder and ca.crt; with FLWR_HOME={made.home}, flwr knows the SuperLink as {CONNECTION}")


def flower_wait(
    superlink: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Where the SuperLink will listen.")],
    seconds: Annotated[float, typer.Option(min=0, help="How long to wait for it at most.")] = 60,
) -> None:
    """Wait until a SuperLink takes connections; exit code 2 if it does not."""
    from mooring.flower_app import wait_for

    wait_for(superlink, seconds)


def flower() -> None:
    """A federation over Flower (extra flower); see docs/flower.md."""
