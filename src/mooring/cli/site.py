"""`mooring approve`, `train`, `inspect`, `reveal-masks`, `keys` and `log`: what a site of a federation by file does."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, command, print_json, say
from mooring.errors import ConfigError, FederationError, Interruption

if TYPE_CHECKING:
    from mooring.federation import Overlap

JobArgument = Annotated[Path, typer.Argument(metavar="JOB", help="A job file, from mooring plan.")]
LeastSites = Annotated[int, typer.Option(help="Fewest sites with different keys for a secure sum.")]
EncoderOption = Annotated[
    str | None, typer.Option("--encoder", help="The encoder's file, if the job or model names it by its SHA-256.")
]


def approve(job: JobArgument, encoder: EncoderOption = None) -> None:
    """Approve a job at a site; `mooring train` does not ask again."""
    from mooring.cli.federation_tables import show_job
    from mooring.federation import Log, home, read_job
    from mooring.federation import approve as write_down

    opened = read_job(job, encoder)
    show_job(opened)
    write_down(opened, Log(home()))
    say("\napproved, and written into the log; go on with mooring train")


def train(  # noqa: PLR0913, PLR0917
    job: JobArgument,
    data: Annotated[Path, typer.Option(help="The folder with one folder of images for each class.")],
    site: Annotated[str, typer.Option(help="This site's name in the job.")],
    check: Annotated[bool, typer.Option("--check", help="Show what would happen; write nothing.")] = False,
    rename: Annotated[
        list[str] | None, typer.Option("--map", help="FOLDER=CLASS, if a folder is not named like its class.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the upload; SITE.mooring by default.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve the job with this command.")] = False,
    seal: Annotated[bool, typer.Option("--seal", help="Encrypt the upload for the coordinator.")] = False,
    allow_small_classes: Annotated[
        bool, typer.Option("--allow-small-classes", help="Send sums of classes with few images too.")
    ] = False,
    accept_disclosure: Annotated[
        bool, typer.Option("--accept-disclosure", help="Send sums although images can be rebuilt from them.")
    ] = False,
    least_sites: LeastSites = 3,
    overlap: Annotated[
        str, typer.Option(help="warn or stop, if a secure sum and an earlier one reveal single sites together.")
    ] = "warn",
    again: Annotated[bool, typer.Option("--again", help="Replace an upload that is already there.")] = False,
    encoder: EncoderOption = None,
    json: AsJson = False,
) -> None:
    """Train once on this site's images and write the file to send back. Sends nothing."""
    from mooring.cli.federation_tables import show_members, show_preview
    from mooring.cli.progress import Unit, kept_at_site, site_progress
    from mooring.events import RunInterrupted
    from mooring.federation import Log, SiteRules, folder_of, home, own_identity, preview, read_job
    from mooring.federation import approve as write_down
    from mooring.federation import train as train_site

    rules = SiteRules(accept_disclosure, least_sites, warn_or_stop(overlap))
    opened = read_job(job, encoder)
    place = folder_of(opened, site, data, pairs("map", rename, "FOLDER=CLASS"))
    if check:
        found = preview(opened, place, Log(home()))
        if json:
            print_json(found)
        else:
            show_preview(opened, site, found)
        return
    path = out or Path(f"{site}.mooring")
    if path.exists() and not again:
        raise FederationError(f"{path}: exists already", "send it, or replace it with --again")
    log = Log(home())
    if yes:
        write_down(opened, log)
    if not json:
        show_members(opened, log.home)
    try:
        unit: Unit = "step" if opened.work.recipe.terms else "image"
        with site_progress(site, json, unit) as emit:
            done = train_site(
                opened,
                place,
                path,
                own_identity(),
                log,
                allow_small=allow_small_classes,
                sealed=seal,
                rules=rules,
                emit=emit,
            )
    except RunInterrupted as interrupt:
        raise Interruption("interrupted", f"{kept_at_site(interrupt, unit)}go on with: {command()}") from None
    except KeyboardInterrupt:
        raise Interruption("interrupted", f"go on with: {command()}") from None
    if json:
        print_json(
            {
                "path": str(done.path),
                "bytes": done.bytes,
                "sha256": done.sha256,
                "samples": done.samples,
                "warnings": done.warnings,
            }
        )
        return
    from mooring.wording import size

    say(f"{done.path}: {size(done.bytes)} from {done.samples} images; mooring inspect says what is in it")
    say(f"SHA-256 {done.sha256}")
    for warning in done.warnings:
        say(f"warning: {warning}")


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A job, an upload or a model.")],
    json: AsJson = False,
) -> None:
    """Describe what a .mooring file contains, with bytes."""
    from mooring.cli.federation_tables import show_file
    from mooring.cli.inspecting import inspected

    found = inspected(file)
    if json:
        print_json(found)
    else:
        show_file(file, found)


def reveal_masks(
    job: JobArgument,
    site: Annotated[str, typer.Option(help="This site's name in the job.")],
    missing: Annotated[str, typer.Option(help="Sites that have not answered, with commas.")],
    out: Annotated[Path | None, typer.Option(help="Where to write it; SITE.recovery.mooring by default.")] = None,
    least_sites: LeastSites = 3,
    encoder: EncoderOption = None,
) -> None:
    """Reveal to the coordinator the masks that this site shares with sites that never answered.

    With them, the coordinator can read the secure sum of all other sites. At least three sites must be left."""
    from mooring.federation import Log, SiteRules, home, own_identity, read_job, write_recovery

    path = out or Path(f"{site}.recovery.mooring")
    rules, names = SiteRules(least_sites=least_sites), split_commas(missing)
    warnings = write_recovery(read_job(job, encoder), site, names, own_identity(), Log(home()), path, rules)
    for warning in warnings:
        say(f"warning: {warning}")
    say(f"{path}: send it to the coordinator only after {' and '.join(names)} confirmed that no file was sent;")
    say(f"with all recovery files and the file of {missing}, that file could be read")


def keys(
    part: Annotated[str | None, typer.Argument(hidden=True)] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the public key into this file.")] = None,
    pin: Annotated[
        list[str] | None,
        typer.Option(help="SITE=KEY or FINGERPRINT; jobs with another key are rejected."),
    ] = None,
    json: AsJson = False,
) -> None:
    """Show this account's public key (created by the first call). Pin keys of others."""
    if part is not None:
        raise ConfigError(
            [f"keys {part}: shows the key of this account; settings are listed by mooring settings {part}"]
        )
    from mooring.federation import fingerprint, home, own_identity, read_pins, write_container, write_pins

    identity = own_identity()
    new = {name: key_in(text) for name, text in pairs("pin", pin, "SITE=KEY").items()}
    pins = write_pins(home(), new) if new else read_pins(home())
    if out is not None:
        write_container(out, f"{identity.public}\n".encode())
    if json:
        own = {"public": identity.public, "fingerprint": fingerprint(identity.public), "path": str(identity.path)}
        print_json({**own, "pins": pins})
        return
    say(f"public key   {identity.public}")
    say(f"fingerprint  {fingerprint(identity.public)}")
    say(f"private key  {identity.path}{' (new)' if identity.is_new else ''}; it stays here, keep a backup")
    for name, key in pins.items():
        say(f"pinned       {fingerprint(key)} {name}")


def log(
    verify: Annotated[bool, typer.Option("--verify", help="Only check that the log is unchanged.")] = False,
    json: AsJson = False,
) -> None:
    """Show what was decided here: planned, approved, trained, used, set aside, fused, withdrawn."""
    from mooring.federation import Log, home, privacy_spent

    kept = Log(home())
    entries = kept.entries()  # a broken chain is an error, whatever is asked for
    if json:
        print_json({"entries": entries, "last": kept.last, "privacy": privacy_spent(entries)})
        return
    if not verify:
        from mooring.cli.federation_tables import show_log

        show_log(entries)
    say(f"{len(entries)} lines, every one in place; the last one has the hash")
    say(kept.last)


def key_in(text: str) -> str:
    """A public key, or what a file of that name holds."""
    path = Path(text)
    try:
        with path.open("rb") as file:
            return file.read(200).decode("ascii").strip()
    except (OSError, ValueError):
        return text


def warn_or_stop(text: str) -> "Overlap":
    match text:
        case "warn" | "stop":
            return text
        case _:
            raise ConfigError([f"--overlap {text}: must be warn or stop"])


def split_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def pairs(option: str, words: list[str] | None, shape: str) -> dict[str, str]:
    """`north=abc` -> {north: abc}"""
    found: dict[str, str] = {}
    for word in words or ():
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise ConfigError([f"--{option} {word}: must be {shape}"])
        if name.strip() in found:
            raise ConfigError([f"--{option} {word}: {name.strip()} is given twice; keep one of them"])
        found[name.strip()] = value.strip()
    return found
