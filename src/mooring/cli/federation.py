"""`mooring plan`, `approve`, `train`, `inspect`, `keys` and `log`: a federation by file, one command per site."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, command, print_json, say
from mooring.errors import ConfigError, FederationError, Interruption

if TYPE_CHECKING:
    from mooring.config import Experiment

JobArgument = Annotated[Path, typer.Argument(metavar="JOB", help="A job file, from mooring plan.")]
EncoderOption = Annotated[
    str | None, typer.Option("--encoder", help="Where the encoder's file lies, if the job names one by its SHA-256.")
]


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
        str | None, typer.Option(help="none, a name of the house, FILE.onnx or FILE.safetensors; else by the images.")
    ] = None,
    size: Annotated[int | None, typer.Option(help="Pixels a side; else what the encoder takes.")] = None,
    channels: Annotated[int | None, typer.Option(help="1 for grey images, 3 for colour.")] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="SITE=KEY: its public key, or the file of mooring keys --out."),
    ] = None,
    secure_sum: Annotated[
        bool, typer.Option("--secure-sum", help="Nobody sees a site's numbers, only the sum; every site needs a key.")
    ] = False,
    images: Annotated[int, typer.Option(help="Of all sites together, at most; a secure sum has room for so many.")] = (
        10**6
    ),
    withhold_counts: Annotated[
        bool,
        typer.Option("--withhold-counts", help="Sites do not tell how many images they have; all weigh the same."),
    ] = False,
    epsilon: Annotated[
        float | None, typer.Option(help="Noise at every site that hides any single image: the smaller, the better.")
    ] = None,
    delta: Annotated[float, typer.Option(help="The probability with which --epsilon may fail.")] = 1e-5,
    minimum: Annotated[int, typer.Option(help="Images that a site has at least of a class it has any of.")] = 5,
    expires: Annotated[str | None, typer.Option(help="The first day on which it counts no more; else in 90 days.")] = (
        None
    ),
    out: Annotated[Path, typer.Option(help="Where to write the job file.")] = Path("job.mooring"),
    json: AsJson = False,
) -> None:
    """Write the one job file that every site gets: what to learn, how, and what to send back. No data is looked at."""
    words = ["training.snapshots=last", "data.source=image_folder"]
    if method is None and not any(word.partition("=")[0] == "method" for word in settings or ()):
        method = "mooring"
    given = {"method": method, "encoder": encoder, "data.size": size, "data.channels": channels}
    words += [f"{name}={value}" for name, value in given.items() if value is not None]
    words += settings or ()  # after the options: they may say more of what an option names
    if epsilon is not None:
        words.append(f"fusion.privacy={{kind: gaussian-noise, epsilon: {epsilon!r}, delta: {delta!r}}}")
    experiment = one_experiment(words)
    from mooring.federation.container import write
    from mooring.federation.job_file import moment
    from mooring.federation.keys import home, own_identity
    from mooring.federation.log import Log
    from mooring.federation.plan import plan as plan_job

    identity = own_identity()
    data, job = plan_job(
        experiment,
        split_commas(classes),
        split_commas(sites),
        identity,
        keys={name: key_in(key_text) for name, key_text in pairs("key", key, "SITE=KEY").items()},
        minimum=minimum,
        expires=None if expires is None else moment(expires),
        secure_images=images if secure_sum else None,
        counts="withheld" if withhold_counts else "told",
    )
    write(out, data)
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


def approve(job: JobArgument, encoder: EncoderOption = None) -> None:
    """Approve a job at a site: it is written into the site's log, and `mooring train` asks no more."""
    from mooring.cli.federation_tables import show_job
    from mooring.federation.job_file import read_job
    from mooring.federation.keys import home
    from mooring.federation.log import Log
    from mooring.federation.train import approve as write_down

    opened = read_job(job, encoder)
    show_job(opened)
    write_down(opened, Log(home()))
    say("\napproved, and written into the log; go on with mooring train")


def train(  # noqa: PLR0913, PLR0917
    job: JobArgument,
    data: Annotated[Path, typer.Option(help="The folder with one folder of images for each class.")],
    site: Annotated[str, typer.Option(help="Which of the job's sites this is.")],
    check: Annotated[bool, typer.Option("--check", help="Only say what would happen; nothing is written.")] = False,
    rename: Annotated[
        list[str] | None, typer.Option("--map", help="FOLDER=CLASS, for a folder with another name than its class.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Where to write the upload; SITE.mooring by default.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve the job with this command.")] = False,
    seal: Annotated[bool, typer.Option("--seal", help="Nobody but the coordinator can open the upload.")] = False,
    allow_small_classes: Annotated[
        bool, typer.Option("--allow-small-classes", help="Send sums of classes with few images too.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Replace an upload that is already there.")] = False,
    encoder: EncoderOption = None,
    json: AsJson = False,
) -> None:
    """Train once on this site's images and write the one file to send back. Nothing is sent by this command."""
    from mooring.cli.federation_tables import show_preview
    from mooring.cli.progress import site_progress
    from mooring.federation.job_file import read_job
    from mooring.federation.keys import home, own_identity
    from mooring.federation.log import Log
    from mooring.federation.train import approve as write_down
    from mooring.federation.train import folder_of, preview
    from mooring.federation.train import train as train_site

    opened = read_job(job, encoder)
    place = folder_of(opened, site, data, pairs("map", rename, "FOLDER=CLASS"))
    if check:
        found = preview(opened, place, Log(home()).entries())
        if json:
            print_json(found)
        else:
            show_preview(opened, site, found)
        return
    path = out or Path(f"{site}.mooring")
    if path.exists() and not again:
        raise FederationError(f"{path}: is there already", "send it, or say --again to make it anew")
    log = Log(home())
    if yes:
        write_down(opened, log)
    try:
        with site_progress(site, silent=json) as emit:
            done = train_site(
                opened, place, path, own_identity(), log, allow_small=allow_small_classes, sealed=seal, emit=emit
            )
    except KeyboardInterrupt:
        raise Interruption("interrupted", f"go on with: {command()}") from None
    if json:
        print_json({"path": str(done.path), "bytes": done.bytes, "sha256": done.sha256, "samples": done.samples})
        return
    from mooring.wording import size

    say(f"{done.path}: {size(done.bytes)} from {done.samples} images; mooring inspect says what is in it")
    say(f"SHA-256 {done.sha256}")


def inspect(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A job, an upload or a model.")],
    json: AsJson = False,
) -> None:
    """Say what exactly is in a .mooring file, in words and bytes."""
    from mooring.cli.federation_tables import show_file
    from mooring.cli.inspecting import inspected

    found = inspected(file)
    if json:
        print_json(found)
    else:
        show_file(file, found)


def recover(
    job: JobArgument,
    site: Annotated[str, typer.Option(help="Which of the job's sites this is.")],
    missing: Annotated[str, typer.Option(help="Sites that have not answered, with commas.")],
    out: Annotated[Path | None, typer.Option(help="Where to write it; SITE.recovery.mooring by default.")] = None,
    encoder: EncoderOption = None,
) -> None:
    """Let a secure sum be read without sites that never answered: reveal this site's masks with them, to nobody but
    the coordinator."""
    from mooring.federation.job_file import read_job
    from mooring.federation.keys import home, own_identity
    from mooring.federation.log import Log
    from mooring.federation.recovery import write_recovery

    path = out or Path(f"{site}.recovery.mooring")
    write_recovery(read_job(job, encoder), site, split_commas(missing), own_identity(), Log(home()), path)
    say(f"{path}: send it to the coordinator")
    say(f"with it and the file of {missing}, that file could be read")


def keys(
    part: Annotated[str | None, typer.Argument(hidden=True)] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the public key into this file.")] = None,
    json: AsJson = False,
) -> None:
    """Show this account's public key, which others may know; it is made when it is first asked for."""
    if part is not None:
        raise ConfigError(
            [f"keys {part}: shows the key of this account; settings are listed by mooring settings {part}"]
        )
    from mooring.federation.container import write
    from mooring.federation.keys import fingerprint, own_identity

    identity = own_identity()
    if out is not None:
        write(out, f"{identity.public}\n".encode())
    if json:
        print_json({"public": identity.public, "fingerprint": fingerprint(identity.public), "path": str(identity.path)})
        return
    say(f"public key   {identity.public}")
    say(f"fingerprint  {fingerprint(identity.public)}")
    say(f"private key  {identity.path}{' (new)' if identity.is_new else ''}; it stays here, keep a backup")


def log(
    verify: Annotated[bool, typer.Option("--verify", help="Only say whether the log is what was written.")] = False,
    json: AsJson = False,
) -> None:
    """Show what was decided here: planned, approved, trained, used, set aside, fused, withdrawn."""
    from mooring.federation.budget import spent
    from mooring.federation.keys import home
    from mooring.federation.log import Log

    kept = Log(home())
    entries = kept.entries()  # a broken chain is an error, whatever is asked for
    if json:
        print_json({"entries": entries, "last": kept.last, "privacy": spent(entries)})
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
