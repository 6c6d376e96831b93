"""What a site does: look at a job, approve it, train once, and leave one signed file to be sent. No network."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from mooring.client import ClientJob, next_round, step_of_state
from mooring.data import ClassFolder, ImageSet, InMemorySite, SiteFolder, reading_progress
from mooring.engines import Local
from mooring.errors import DataError, FederationError, TrainingError
from mooring.events import (
    ClientFailed,
    ClientRecord,
    ClientResumed,
    ClientStarved,
    Emit,
    Event,
    RunInterrupted,
    RunResumed,
    silent,
)
from mooring.federation._container import file_hash, write_container
from mooring.federation._disclosure import disclosed, expected_disclosure
from mooring.federation._explain import sentence_of, small_classes
from mooring.federation._job_file import JobFile
from mooring.federation._keys import Identity, fingerprint
from mooring.federation._log import Log, Noise
from mooring.federation._privacy import Budget, figures_of, privacy_spent, under_noise, with_noise_of
from mooring.federation._secure_job import masked
from mooring.federation._site_rules import (
    USUAL_RULES,
    SiteRules,
    SumMember,
    reject_few_keys,
    reject_unpinned_keys,
    sum_members,
)
from mooring.federation._sum_ledger import (
    claim_mask,
    images_digest,
    overlaps,
    record_of,
    reject_overlaps,
    reject_second_mask,
)
from mooring.federation._upload_file import UploadManifest, encode_file, numbers_of, seal, tensor_facts
from mooring.federation._withheld_counts import without_counts
from mooring.record import StateFolder, environment
from mooring.types import Upload
from mooring.uploads import IMAGES_BY_CLASS

MASKED = "masked, so that only the sum over all sites of the job can be read, of these:"
WITHHELD = "not how many images there are, nor what training measured: the job withholds counts"
IN_ALL = "how many images there are in all"
MEASURED = "the loss and the accuracy of the training, on the images it was trained on"
SAMPLE = 32  # images that a check looks at


@dataclass(frozen=True)
class Preview:
    """What would happen at a site, before anything does."""

    folders: tuple[ClassFolder, ...]
    missing: tuple[str, ...]  # classes without an image
    unmatched: tuple[str, ...]  # folders of no class
    ignored: Mapping[str, int]  # files that are no images, by ending
    images: int
    seconds: float  # about
    bytes: int  # of the upload's tensors: names and hashes of the manifest add some kilobytes
    reveals: tuple[str, ...]  # what leaves the site, in sentences
    small: Mapping[str, int]  # classes below the job's minimum, where that gives images away
    disclosure: str | None = None  # can images be rebuilt from the sums of so few?
    budget: Budget | None = None  # under noise, the total privacy loss of this account including this upload
    members: tuple[SumMember, ...] = ()  # of a secure sum
    overlaps: tuple[str, ...] = ()  # what the sum and earlier ones reveal together


@dataclass(frozen=True)
class Trained:
    """What a site made."""

    path: Path
    bytes: int
    samples: int
    sha256: str
    warnings: tuple[str, ...] = ()


def folder_of(job: JobFile, site: str, data: Path, mapping: Mapping[str, str] | None = None) -> SiteFolder:
    """The site's images as the job wants them."""
    number = job.number_of(site)
    return SiteFolder(site, number, data, job.classes, replace(job.images, root=str(data)), dict(mapping or {}))


def preview(job: JobFile, site: SiteFolder, log: Log | None = None) -> Preview:
    """Look at folders and at a few images; nothing is written, nothing leaves. `log` is that of this home."""
    figures, secure = figures_of(job.work), job.manifest.secure is not None
    earlier = [] if log is None else log.entries()
    return Preview(
        folders=site.folders,
        missing=tuple(label for label, count in site.counts.items() if not count),
        unmatched=tuple(folder.name for folder in site.folders if folder.label is None),
        ignored=dict(site.ignored),
        images=site.size,
        seconds=seconds_for(job.work, site) if site.size else 0.0,
        bytes=job.limits.bytes,
        reveals=revealed_by(job),
        small={} if figures else small_classes(site.counts.values(), job.classes, job.manifest.minimum),
        disclosure=expected_disclosure(job, site.size),
        budget=privacy_spent(earlier, Noise(**figures, numbers="")) if figures else None,
        members=() if log is None else sum_members(job, log.home),
        overlaps=overlaps(job, record_of(job), earlier) if secure else (),
    )


def revealed_by(job: JobFile) -> tuple[str, ...]:
    """What leaves a site, in sentences: its tensors, and what its manifest says beside them."""
    tensors = tuple(dict.fromkeys(sentence_of(plan.name, job.work.needs) for plan in job.manifest.uploads))
    if job.manifest.secure is not None:
        return (MASKED, *tensors)
    if job.withholds:
        return (*tensors, WITHHELD)
    total = () if IMAGES_BY_CLASS in tensors or figures_of(job.work) else (IN_ALL,)
    return (*tensors, *total, *((MEASURED,) if job.work.recipe.terms else ()))


def seconds_for(work: ClientJob, site: SiteFolder) -> float:
    """About how long it takes, from a few images: read, and trained on for one epoch where something is trained."""
    began = monotonic()
    sample = site.sample(SAMPLE)
    read = monotonic()
    once = replace(work, training=replace(work.training, rounds=1, local_epochs=1, snapshots="last"))
    for _ in Local(workers=1).collect(once, [InMemorySite(site.number, sample, site.name)], silent):
        pass
    epochs = work.training.rounds * work.training.local_epochs if work.recipe.terms else 1
    return (read - began + (monotonic() - read) * epochs) * site.size / max(1, len(sample))


def approve(job: JobFile, log: Log, now: datetime | None = None) -> None:
    """This site does what the job asks: written down once."""
    job.reject_expired(now or datetime.now(UTC))
    reject_unpinned_keys(job, log.home)
    if not log.has("approved", job.sha256):
        words = f"{job.manifest.method} for {len(job.classes)} classes, asked by {fingerprint(job.coordinator)}"
        log.note("approved", job.sha256, who=job.coordinator, words=words)


def train(  # noqa: PLR0913
    job: JobFile,
    site: SiteFolder,
    out: Path,
    identity: Identity,
    log: Log,
    *,
    allow_small: bool = False,
    sealed: bool = False,
    rules: SiteRules = USUAL_RULES,
    emit: Emit = silent,
    now: datetime | None = None,
) -> Trained:
    """Train once, or go on where an interrupted training was, and write the one file; all of it or nothing."""
    today = (now or datetime.now(UTC)).replace(microsecond=0)
    job.reject_expired(today)
    if not log.has("approved", job.sha256):
        raise FederationError("this job was not approved here", "look at it with --check, then `mooring approve JOB`")
    reject_foreign_key(job, site.name, identity)
    reject_unpinned_keys(job, log.home)
    reject_few_keys(job, rules.least_sites)
    reject_second_mask(job, site.name, identity, log)
    with reading_progress(emit):
        shard = site.shard()
    reject_above_limit(job, site.name, len(shard))
    figures = figures_of(job.work)
    small = {} if figures else small_classes(shard.label_counts(), job.classes, job.manifest.minimum)
    if small and not allow_small:
        small_text = ", ".join(f"{label} ({count})" for label, count in small.items())
        raise DataError(
            f"{site.name}: classes with fewer than {job.manifest.minimum} images: {small_text}",
            "sums over so few give single images away: leave them out, or say --allow-small-classes",
        )
    secure = job.manifest.secure is not None
    sum_ = record_of(job, images=images_digest(shard)) if secure else None
    warnings = () if sum_ is None else overlaps(job, sum_, log.entries())
    reject_overlaps(warnings, rules)
    few = expected_disclosure(job, len(shard)) if secure else None
    warnings = (*warnings, *([] if few is None else [few]))
    work = with_noise_of(job.work, job.sha256, identity.key)
    upload, last = train_site(replace(job, work=work), site, shard, log.home, emit)
    upload = under_noise(work, upload)
    accepted = disclosed(job, site.name, upload.tensors, shard, rules, emit)
    claim_mask(job, site.name, identity, log)
    upload = masked(job, upload, site.name, identity.key) if secure else upload
    upload = without_counts(upload) if job.withholds else upload
    measured = {} if last is None else {"base_loss": last.base_loss, "train_accuracy": last.train_accuracy}
    versions = environment()
    manifest = UploadManifest(
        job=job.sha256,
        work=job.work.sha256,
        site=site.name,
        samples=None if job.withholds or secure else upload.samples,
        classes=job.classes,
        minimum=job.manifest.minimum,
        created=today.isoformat(),
        tensors={name: tensor_facts(tensor) for name, tensor in upload.tensors.items()},
        metrics={} if job.withholds else measured,
        versions={"python": versions.python, **versions.packages},
        small_classes=bool(small) and not job.withholds,
        masked=secure,
        privacy=figures,
        accepted_disclosure=accepted,
    )
    inside = encode_file(manifest, upload, identity.key)
    data = seal(inside, job.sha256, job.coordinator) if sealed else inside
    digest = file_hash(data)
    words = f"{len(shard)} images, {len(data)} bytes"
    words += f", sealed; inside SHA-256 {file_hash(inside)}" if sealed else ""  # which the coordinator and models tell
    noise = Noise(**figures, numbers=numbers_of(manifest)) if figures else None
    log.note("trained", job.sha256, digest, site.name, words, noise, sum_)
    write_container(out, data)  # after it is noted: numbers that were masked once may have been seen
    shutil.rmtree(state_folder(log.home, job, site.name), ignore_errors=True)
    return Trained(out, len(data), len(shard), digest, warnings)


def train_site(
    job: JobFile, site: SiteFolder, shard: ImageSet, home: Path, emit: Emit
) -> tuple[Upload, ClientRecord | None]:
    """The one upload, and what was measured last."""
    folder = state_folder(home, job, site.name)
    folder.mkdir(parents=True, exist_ok=True)
    states = StateFolder(folder, job.sha256, job.work.sha256)
    measured: list[ClientRecord] = []
    failed: list[tuple[str, str]] = []

    def note(event: Event) -> None:
        match event:
            case ClientRecord() as record if record.steps is not None:  # who sends sums alone has no loss to tell of
                measured.append(record)
            case ClientFailed(problem=problem, remedy=remedy):
                failed.append((problem, remedy))
            case ClientStarved(reason=reason):
                failed.append((f"{site.name}: {reason}", "name a folder with images"))
        emit(event)

    place = InMemorySite(site.number, shard, site.name)
    last = job.work.kept()[-1]
    uploads = Local(workers=1).collect(job.work, [place], note, states)
    try:
        # not a step further: the next state would say that nothing is left to do, and no file is written yet
        upload = next((upload for upload in uploads if upload.round == last), None)
    except KeyboardInterrupt as interrupt:
        raise RunInterrupted(kept_of(states, site), (site.name,)) from interrupt
    for problem, remedy in failed:
        raise TrainingError(problem, remedy)
    assert upload is not None, "who did not fail has uploaded"
    return upload, measured[-1] if measured else None


def kept_of(states: StateFolder, site: SiteFolder) -> RunResumed:
    """How far an interrupted training is, as the site's disk has it."""
    last = states.last(site.number)
    place = () if last is None else (ClientResumed(site.number, next_round(last), step_of_state(last)),)
    return RunResumed(1, 0, place)


def state_folder(home: Path, job: JobFile, site: str) -> Path:
    return home / "training" / f"{job.sha256[:16]}-{site}"


def reject_above_limit(job: JobFile, site: str, images: int) -> None:
    """Do not make a file that would be rejected."""
    most = job.manifest.most_images
    if most is not None and images > most:
        raise DataError(
            f"{site}: has {images:,} images, and the job allows {most:,} per site",
            "train on fewer of them, or ask the coordinator for a job with a higher limit",
        )


def reject_foreign_key(job: JobFile, site: str, identity: Identity) -> None:
    """Do not make a file that would be rejected."""
    key = next(named.key for named in job.manifest.sites if named.name == site)
    if key is not None and key != identity.public:
        raise FederationError(
            f"site {site}: the job wants the key {fingerprint(key)}, and this one is {fingerprint(identity.public)}",
            "use the account that showed its key with `mooring keys`, or ask for a new job",
        )
