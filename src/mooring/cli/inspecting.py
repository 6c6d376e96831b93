"""What `mooring inspect` says of a .mooring file: every kind in words, its signature checked."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from mooring.federation.budget import spent
from mooring.federation.container import Container, decode, file_hash, load
from mooring.federation.encoder_at_hand import PLAN_AGAIN
from mooring.federation.encoder_named import NOT_INSIDE, in_words
from mooring.federation.explain import (
    Explained,
    class_counts,
    explained,
    second_moment_rank,
    sentence_of,
    small_classes,
)
from mooring.federation.job_file import KIND as JOB
from mooring.federation.job_file import JobManifest
from mooring.federation.keys import home, own_identity
from mooring.federation.log import Log
from mooring.federation.manifests import manifest_as
from mooring.federation.model_file import AGAIN, Provenance, SiteShare
from mooring.federation.model_file import KIND as MODEL
from mooring.federation.upload_file import KIND as UPLOAD
from mooring.federation.upload_file import SEALED, UploadFile, UploadManifest, read_upload
from mooring.reports.table import size
from mooring.uploads import Limits
from mooring.uploads.codec import facts_of, header_of


@dataclass(frozen=True)
class Inspected:
    """What `mooring inspect` found in a file."""

    kind: str
    bytes: int
    signer: str | None
    rows: tuple[tuple[str, str], ...]
    tensors: tuple[Explained, ...] = ()
    warnings: tuple[str, ...] = field(default=())


def inspected(path: Path) -> Inspected:
    """A file of any kind, its signature checked, explained."""
    data = load(path)
    held = decode(data, None, what=str(path))
    look = {JOB: of_job, UPLOAD: of_upload, SEALED: of_sealed, MODEL: of_model}.get(held.kind, of_other)
    return look(held, data, path)


def of_job(held: Container, data: bytes, path: Path) -> Inspected:
    """What a job asks for, as its manifest says; whether it builds that too is seen where it is approved."""
    told = manifest_as(JobManifest, held.manifest, str(path), PLAN_AGAIN)
    keys = sum(site.key is not None for site in told.sites)
    rows = [
        ("job", held.sha256),
        ("method", told.method),
        ("classes", ", ".join(told.classes)),
        ("sites", f"{', '.join(site.name for site in told.sites)} ({keys} with a key)"),
        ("encoder", "" if told.encoder is None else in_words(told.encoder)),
        ("secure sum", "the coordinator reads the sum of all sites, and nobody's own" if told.secure else ""),
        ("counts", "withheld" if told.counts == "withheld" else ""),
        ("minimum", f"{told.minimum} images of a class that a site has any of"),
        ("created", f"{told.created}, by mooring {told.mooring}"),
        ("expires", told.expires),
        ("upload", f"at most {size(told.most_bytes)}:"),
        *(("", sentence) for sentence in dict.fromkeys(sentence_of(plan.name) for plan in told.uploads)),
    ]
    return Inspected(held.kind, len(data), held.signer, tuple(row for row in rows if row[1]))


def of_upload(held: Container, data: bytes, path: Path) -> Inspected:
    return with_budget(told_of(read_upload(path), len(data)), file_hash(data))


def with_budget(found: Inspected, digest: str) -> Inspected:
    """Under noise, and only for the account that made the file: what it has told in all."""
    entries = Log(home()).entries()
    if not any(entry.file == digest and entry.noise for entry in entries):
        return found
    return replace(found, rows=(*found.rows, ("this account", spent(entries).sentence)))


def of_sealed(held: Container, data: bytes, path: Path) -> Inspected:
    """The coordinator sees what is inside; everybody else, for whom it is."""
    identity = own_identity()
    if held.manifest.get("for") == identity.public:
        return told_of(read_upload(path, key=identity.key), len(data))
    rows = (("job", str(held.manifest.get("job"))), ("sealed for", str(held.manifest.get("for"))))
    return Inspected(held.kind, len(data), held.signer, rows, warnings=("only its coordinator can open it",))


def of_other(held: Container, data: bytes, path: Path) -> Inspected:
    rows = tuple((key, str(value)[:2000]) for key, value in held.manifest.items())
    return Inspected(held.kind, len(data), held.signer, rows)


def of_model(held: Container, data: bytes, path: Path) -> Inspected:
    """Who is in it, what it knows and what it needs; its tensors are not looked at."""
    told = manifest_as(Provenance, held.manifest, str(path), AGAIN)
    facts = facts_of(header_of(held.payload, Limits(), str(path)), str(path))
    classes = list(map(str, facts.get("classes", [])))
    behind = [f"{label}: {n}" for label, n in zip(classes, told.images_per_class, strict=False)]
    made = {"federation": "a federation by file", "simulation": "a simulated run"}.get(told.origin, "")
    rows = [
        ("made by", made),
        ("method", told.method),
        ("fusion", told.fusion),
        ("track", told.track),
        ("classes", ", ".join(classes)),
        ("images", ", ".join(behind)),
        ("sites", f"{len(told.used)} of {len(told.asked)} in the model"),
        *(("", share_told(site)) for site in told.sites),
        ("encoder", "" if told.encoder is None else in_words(told.encoder, NOT_INSIDE)),
        *(("protected by", words) for words in told.protections),
        ("work order", told.job_sha256 or ""),
        ("fingerprint", told.fingerprint or ""),
        ("seed", "" if told.seed is None else str(told.seed)),
        ("made with", ", ".join(f"{name} {version}" for name, version in told.versions.items())),
    ]
    return Inspected(held.kind, len(data), held.signer, tuple(row for row in rows if row[1]))


def share_told(site: SiteShare) -> str:
    """`north: 49 images, 39.8 %`"""
    if not site.used:
        return f"{site.name}: {site.reason}"
    images = "images withheld" if site.samples is None else f"{site.samples:,} images"
    return f"{site.name}: {images}" + ("" if site.weight is None else f", {100 * site.weight:.1f} %")


def told_of(file: UploadFile, nbytes: int) -> Inspected:
    told, tensors = file.manifest, file.upload.tensors
    if told.masked:
        return of_masked(file, nbytes)
    counts = class_counts(tensors)
    rows = [("site", told.site), ("answers job", told.job), ("made", told.created)]
    rows += [("images", images_told(told))]
    rows += [("privacy", ", ".join(f"{name} {value:g}" for name, value in told.privacy.items()))] * bool(told.privacy)
    warnings = []
    if counts is not None:
        some = {label: count for label, count in zip(told.classes, counts, strict=False) if count}
        rows.append(("of each class", ", ".join(f"{label} {count}" for label, count in some.items())))
        if some:
            smallest = min(some, key=lambda label: some[label])
            rows.append(("smallest class", f"{smallest}, {some[smallest]} images"))
        for label, count in small_classes(counts, told.classes, told.minimum).items():
            warnings.append(
                f"{label} has {count} images and the job asks for {told.minimum}: sums over so few are nearly the "
                "features of single images"
            )
    second = None if told.samples is None else second_moment_rank(tensors, told.samples)
    rows += [("second moments", second.sentence)] if second else []
    rows += [(name, f"{value:.4g}") for name, value in told.metrics.items() if value is not None]
    rows.append(("made with", ", ".join(f"{name} {version}" for name, version in told.versions.items())))
    return Inspected("upload", nbytes, file.signer, tuple(rows), tuple(explained(tensors)), tuple(warnings))


def images_told(told: UploadManifest) -> str:
    if told.samples is None:
        return "withheld: the file does not tell how many there are"
    return f"about {told.samples}, under noise" if told.privacy else str(told.samples)


def of_masked(file: UploadFile, nbytes: int) -> Inspected:
    """Random words: there is nothing to see but how many."""
    told = file.manifest
    words = sum(tensor.numel() for tensor in file.upload.tensors.values())
    said = f"{words} masked words: random numbers to everybody; only the sum over all sites of the job can be read"
    rows = (("site", told.site), ("answers job", told.job), ("made", told.created), ("what leaves the site", said))
    return Inspected("upload", nbytes, file.signer, rows)
