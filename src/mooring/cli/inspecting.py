"""What `mooring inspect` says of a .mooring file: every kind in words, its signature checked."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from mooring.federation import (
    JOB,
    MAKE_MODEL_AGAIN,
    MODEL,
    PLAN_AGAIN,
    SEALED,
    UPLOAD,
    WITHDRAWAL,
    WORDS,
    Container,
    Explained,
    JobManifest,
    Log,
    Provenance,
    SiteShare,
    UploadFile,
    UploadManifest,
    Withdrawal,
    class_counts,
    decode_container,
    explain_tensors,
    file_hash,
    fingerprint,
    gram_spans,
    home,
    key_warnings,
    load_bytes,
    manifest_as,
    most_revealing,
    own_identity,
    privacy_spent,
    read_upload,
    sentence_of,
    small_classes,
)
from mooring.models import NOT_INCLUDED, encoder_sentence
from mooring.uploads import Limits, NoisedMoments, Parts, header_facts, header_of
from mooring.wording import size

SECURE_SUM = "the coordinator can read only the sum of all sites, if every key belongs to its site"


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
    data = load_bytes(path)
    held = decode_container(data, None, what=str(path))
    kinds = {JOB: of_job, UPLOAD: of_upload, SEALED: of_sealed, MODEL: of_model, WITHDRAWAL: of_withdrawal}
    look = kinds.get(held.kind, of_other)
    return look(held, data, path)


def of_job(held: Container, data: bytes, path: Path) -> Inspected:
    """What a job asks for, as its manifest says; whether it builds that too is seen where it is approved."""
    manifest = manifest_as(JobManifest, held.manifest, str(path), PLAN_AGAIN)
    rows, warnings = job_rows(manifest, held.sha256), key_warnings(manifest.sites, held.signer or "")
    return Inspected(held.kind, len(data), held.signer, tuple(rows), warnings=warnings)


def job_rows(manifest: JobManifest, job: str, needs: Parts = frozenset(), why: str = "") -> list[tuple[str, str]]:
    """The content of a job. `needs`: its parts, where the job was built; `why`: the reason for its features."""
    keys = sum(site.key is not None for site in manifest.sites)
    limit = "" if manifest.most_images is None else f"{manifest.most_images:,} images per site"
    rows = [
        ("job", job),
        ("method", manifest.method + (f" ({why})" if why else "")),
        ("classes", ", ".join(manifest.classes)),
        ("sites", f"{', '.join(site.name for site in manifest.sites)} ({keys} with a key)"),
        *(("", f"{site.name}: fingerprint {fingerprint(site.key)}") for site in manifest.sites if site.key),
        ("encoder", encoder_sentence(manifest.encoder)),
        *(("privacy", part.privacy.sentence) for part in needs if isinstance(part, NoisedMoments)),
        ("secure sum", SECURE_SUM if manifest.secure else ""),
        ("counts", WORDS.partition(": ")[2] if manifest.counts == "withheld" else ""),
        ("minimum", f"{manifest.minimum} images of a class that a site has any of"),
        ("limit", limit),
        ("created", f"{manifest.created}, by mooring {manifest.mooring}"),
        ("expires", manifest.expires),
        ("upload", f"at most {size(manifest.most_bytes)}:"),
        *(("", sentence) for sentence in dict.fromkeys(sentence_of(plan.name, needs) for plan in manifest.uploads)),
    ]
    return [row for row in rows if row[1]]


def of_upload(held: Container, data: bytes, path: Path) -> Inspected:
    return with_budget(inspect_upload(read_upload(path), len(data)), file_hash(data))


def with_budget(found: Inspected, digest: str) -> Inspected:
    """Under noise, and only for the account that made the file: its total privacy loss."""
    entries = Log(home()).entries()
    if not any(entry.file == digest and entry.noise for entry in entries):
        return found
    return replace(found, rows=(*found.rows, ("this account", privacy_spent(entries).sentence)))


def of_sealed(held: Container, data: bytes, path: Path) -> Inspected:
    """The coordinator sees what is inside; everybody else, for whom it is."""
    identity = own_identity()
    if held.manifest.get("for") == identity.public:
        return inspect_upload(read_upload(path, key=identity.key), len(data))
    rows = (("job", str(held.manifest.get("job"))), ("sealed for", str(held.manifest.get("for"))))
    return Inspected(held.kind, len(data), held.signer, rows, warnings=("only its coordinator can open it",))


def of_withdrawal(held: Container, data: bytes, path: Path) -> Inspected:
    stated = manifest_as(Withdrawal, held.manifest, str(path), "ask the coordinator for the file again")
    rows = (
        ("site", stated.site),
        ("its upload", stated.upload),
        ("job", stated.job),
        ("model before", stated.before),
        ("model after", stated.after),
        ("made from", ", ".join(stated.left)),
        ("states", stated.statement),
    )
    return Inspected(held.kind, len(data), held.signer, rows)


def of_other(held: Container, data: bytes, path: Path) -> Inspected:
    rows = tuple((key, str(value)[:2000]) for key, value in held.manifest.items())
    return Inspected(held.kind, len(data), held.signer, rows)


def of_model(held: Container, data: bytes, path: Path) -> Inspected:
    """Who is in it, what it knows and what it needs; its tensors are not looked at."""
    provenance = manifest_as(Provenance, held.manifest, str(path), MAKE_MODEL_AGAIN)
    facts = header_facts(header_of(held.payload, Limits(), str(path)), str(path))
    classes = list(map(str, facts.get("classes", [])))
    behind = [f"{label}: {n}" for label, n in zip(classes, provenance.images_per_class, strict=False)]
    made = {"federation": "a federation by file", "simulation": "a simulated run"}.get(provenance.origin, "")
    rows = [
        ("made by", made),
        ("method", provenance.method),
        ("fusion", provenance.fusion),
        ("track", provenance.track),
        ("classes", ", ".join(classes)),
        ("images", ", ".join(behind)),
        ("sites", f"{len(provenance.used)} of {len(provenance.asked)} in the model"),
        *(("", share_text(site)) for site in provenance.sites),
        (
            "encoder",
            encoder_sentence(provenance.encoder, NOT_INCLUDED),
        ),
        *(("protected by", words) for words in provenance.protections),
        ("job", provenance.job_sha256 or ""),
        ("fingerprint", provenance.fingerprint or ""),
        ("seed", "" if provenance.seed is None else str(provenance.seed)),
        ("made with", ", ".join(f"{name} {version}" for name, version in provenance.versions.items())),
    ]
    return Inspected(held.kind, len(data), held.signer, tuple(row for row in rows if row[1]))


def share_text(site: SiteShare) -> str:
    """`north: 49 images, 39.8 %`"""
    if not site.used:
        return f"{site.name}: {site.reason}"
    images = "images withheld" if site.samples is None else f"{site.samples:,} images"
    return f"{site.name}: {images}" + ("" if site.weight is None else f", {100 * site.weight:.1f} %")


def inspect_upload(file: UploadFile, nbytes: int) -> Inspected:
    manifest, tensors = file.manifest, file.upload.tensors
    if manifest.masked:
        return of_masked(file, nbytes)
    counts = class_counts(tensors)
    rows = [("site", manifest.site), ("answers job", manifest.job), ("made", manifest.created)]
    rows += [("images", images_text(manifest))]
    rows += [("privacy", ", ".join(f"{name} {value:g}" for name, value in manifest.privacy.items()))] * bool(
        manifest.privacy
    )
    warnings = []
    if counts is not None:
        some = {label: count for label, count in zip(manifest.classes, counts, strict=False) if count}
        rows.append(("of each class", ", ".join(f"{label} {count}" for label, count in some.items())))
        if some:
            smallest = min(some, key=lambda label: some[label])
            rows.append(("smallest class", f"{smallest}, {some[smallest]} images"))
        for label, count in small_classes(counts, manifest.classes, manifest.minimum).items():
            warnings.append(
                f"{label} has {count} images and the job asks for {manifest.minimum}: sums over so few are nearly the "
                "features of single images"
            )
    span = None if manifest.privacy else most_revealing(gram_spans(tensors))
    rows += [("Gram matrix", span.sentence)] if span else []
    if manifest.accepted_disclosure:
        warnings.append("the site accepted that images can be rebuilt from its sums")
    rows += [(name, f"{value:.4g}") for name, value in manifest.metrics.items() if value is not None]
    rows.append(("made with", ", ".join(f"{name} {version}" for name, version in manifest.versions.items())))
    return Inspected("upload", nbytes, file.signer, tuple(rows), tuple(explain_tensors(tensors)), tuple(warnings))


def images_text(manifest: UploadManifest) -> str:
    if manifest.samples is None:
        return "withheld: the file does not tell how many there are"
    return f"about {manifest.samples}, under noise" if manifest.privacy else str(manifest.samples)


def of_masked(file: UploadFile, nbytes: int) -> Inspected:
    """Random words: there is nothing to see but how many."""
    manifest = file.manifest
    words = sum(tensor.numel() for tensor in file.upload.tensors.values())
    said = f"{words} masked words: random numbers to everybody; only the sum over all sites of the job can be read"
    rows = (
        ("site", manifest.site),
        ("answers job", manifest.job),
        ("made", manifest.created),
        ("what leaves the site", said),
    )
    return Inspected("upload", nbytes, file.signer, rows)
