"""What a coordinator does with the files of sites: reject broken rules, ask about the unusual, fuse the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from nacl.signing import SigningKey

from mooring.errors import FederationError, ReviewError
from mooring.federation._container import FileLimits, file_hash, load_bytes
from mooring.federation._effect import Effects
from mooring.federation._explain import class_counts, small_classes
from mooring.federation._job_file import JobFile, parse_time
from mooring.federation._judge import Judgement, Outcome, judge
from mooring.federation._keys import fingerprint
from mooring.federation._manifests import without_control
from mooring.federation._privacy import figures_of
from mooring.federation._rules import SiteLimits
from mooring.federation._secure_job import misshapen, total_of
from mooring.federation._secure_sum import MaskSeeds
from mooring.federation._upload_file import UploadFile, UploadLimits, UploadManifest, read_upload
from mooring.fusion import Predictor, Server, admit
from mooring.processes import threads
from mooring.uploads import ascii_repr

DecisionVerdict = Literal["used", "set aside", "left out", "missing"]
CLOCKS = timedelta(days=1)  # that the clocks of two machines may differ
BOX = 2**12  # bytes that a seal adds, and more


@dataclass(frozen=True)
class Decision:
    """What became of one site, or of one file that belongs to none."""

    site: str
    verdict: DecisionVerdict
    reason: str = ""
    samples: int | None = None
    weight: float | None = None  # its share of all images that were used
    key: str | None = None  # who signed
    file: str | None = None  # SHA-256 of the file, out of its seal
    box: str | None = None  # SHA-256 of it as it came, where it was sealed
    notes: tuple[str, ...] = ()
    seen: str = ""  # what the coordinator reviewed, where there was something unusual


@dataclass(frozen=True)
class FusedUploads:
    """One predictor, what is in it, and what is not."""

    predictor: Predictor = field(repr=False)
    decisions: tuple[Decision, ...]
    used: tuple[UploadFile, ...] = field(repr=False)
    images_per_class: tuple[int, ...] = ()  # of all that was used, where the uploads tell


@dataclass(frozen=True)
class Terms:
    """On what terms a coordinator fuses."""

    need: int = 1  # sites, at least
    strict: bool = False  # stop at the first file that is set aside
    without: tuple[str, ...] = ()  # sites that are left out
    keep: tuple[str, ...] = ()  # sites that were reviewed and are used
    drop: tuple[str, ...] = ()  # sites that were reviewed and are left out

    @property
    def leaving(self) -> tuple[str, ...]:
        return (*self.without, *self.drop)


@dataclass(frozen=True)
class Answers:
    """The answers to a job that keep its rules, what is unusual about them, and why the others are set aside."""

    sound: list[UploadFile]
    aside: list[Decision]
    unusual: dict[str, Judgement]  # by site

    def seen_at(self, file: UploadFile) -> str:
        """What is unusual about this site; empty where nothing is."""
        judgement = self.unusual.get(file.manifest.site)
        return "" if judgement is None else judgement.text


def read_files(
    job: JobFile, paths: Iterable[Path], key: SigningKey, now: datetime
) -> tuple[list[UploadFile], list[Decision]]:
    """Every file that is a whole upload, and why the others are none."""
    cap = FileLimits(job.manifest.most_bytes + BOX, job.manifest.most_bytes)
    limits = UploadLimits(cap, job.limits)
    files: list[UploadFile] = []
    aside: list[Decision] = []
    for path in paths:
        try:
            job.reject_expired(now)
            files.append(read_upload(path, limits, key))
        except FederationError as error:
            aside.append(unread(path, error.problem, cap))
    return files, aside


def unread(path: Path, problem: str, cap: FileLimits) -> Decision:
    """A file of nobody: by its name and its SHA-256; on which path it lay is nobody's business who gets the model."""
    name = path.name if without_control(path.name) else ascii_repr(path.name)
    try:
        sha256 = file_hash(load_bytes(path, cap))
    except FederationError:
        sha256 = None
    named = FederationError(f"{path}: ").problem  # as errors spell it
    return Decision(name, "set aside", problem.removeprefix(named), file=sha256)


def fuse_uploads(
    job: JobFile,
    files: Sequence[UploadFile],
    terms: Terms,
    aside: Sequence[Decision] = (),
    revealed: MaskSeeds | None = None,
) -> FusedUploads:
    """All that holds becomes one predictor; the order of the files does not change a bit of it.

    `revealed`: of a secure sum, the masks of sites that did not answer.
    """
    reject_unknown_sites(job, terms)
    decisions = list(aside)
    left = [file for file in files if file.manifest.site in terms.without]
    decisions += [decision_on(file, "left out", "the coordinator asked for it") for file in left]
    taking_part = [file for file in files if file.manifest.site not in terms.without]
    dropped = [file for file in taking_part if file.manifest.site in terms.drop]
    if dropped:
        before = sound_files(job, taking_part)
        decisions += [
            replace(decision_on(file, "left out", "the coordinator dropped it"), seen=before.seen_at(file))
            for file in dropped
        ]
    answers = sound_files(job, [file for file in taking_part if file not in dropped])
    decisions += answers.aside
    used = answers.sound
    reject_unreviewed(job, answers, terms)
    reject_incomplete(used, decisions, terms)
    uploads = [file.upload for file in used] if job.manifest.secure is None else [total_of(job, used, revealed)]
    with threads(1):  # the same bytes on every machine
        predictor = job.fusion(uploads, Server(job.work.blueprint, job.experiment.seed))
    total = sum(file.manifest.samples or 0 for file in used)
    decisions += [
        replace(
            decision_on(file, "used", "the coordinator kept it after review" if answers.seen_at(file) else ""),
            seen=answers.seen_at(file),
            weight=file.manifest.samples / total if file.manifest.samples and total else None,
            notes=notes_on(job, file, used),
        )
        for file in used
    ]
    counts = [class_counts(upload.tensors) for upload in uploads]
    images = tuple(map(sum, zip(*(own for own in counts if own is not None), strict=True)))
    return FusedUploads(predictor, in_order(job, decisions), tuple(used), images)


def reject_unknown_sites(job: JobFile, terms: Terms) -> None:
    """Every site that a coordinator names must be in the job, and cannot be kept and dropped at once."""
    for option, sites in (("--without", terms.without), ("--keep", terms.keep), ("--drop", terms.drop)):
        for site in sites:
            if site not in job.site_names:
                raise FederationError(
                    f"{option} {ascii_repr(site)}: is no site of this job", f"it has {', '.join(job.site_names)}"
                )
    for site in terms.keep:
        if site in terms.leaving:
            raise FederationError(f"--keep {site}: is left out too", "name it once")


def reject_unreviewed(job: JobFile, answers: Answers, terms: Terms) -> None:
    """Stop for every unusual site on which the coordinator has not decided, with what was seen and what it changes."""
    waiting = [file for file in answers.sound if file.manifest.site in answers.unusual.keys() - set(terms.keep)]
    if not waiting:
        return
    effects = Effects(job.fusion, [file.upload for file in answers.sound])
    findings = []
    for file in waiting:
        site = file.manifest.site
        effect = effects.of(file.upload.client)
        findings.append(
            "; ".join([f"{site}: {answers.unusual[site].text}", *([] if effect is None else [effect.text])])
        )
    raise ReviewError(findings, "look into it with the sites, then add --keep SITE or --drop SITE for each of them")


def sound_files(job: JobFile, files: Sequence[UploadFile]) -> Answers:
    """The answers to this job that keep its rules, by the number of their site; and why the others do not."""
    aside: list[Decision] = []
    answers = []
    for file in unique(files):
        problem = problem_of(job, file)
        if problem is None:
            answers.append(file)
        else:
            aside.append(decision_on(file, "set aside", problem))
    answers, doubles = single(answers)
    aside += doubles
    if not answers:
        return Answers([], aside, {})
    by_client = {file.upload.client: file for file in answers}
    if job.manifest.secure is not None:  # nothing but the sum can be looked at
        return Answers([by_client[client] for client in sorted(by_client)], aside, {})
    needs, blueprint = job.work.needs, job.work.blueprint
    admission = admit([file.upload for file in answers], needs, blueprint, job.work.sha256, strict=False)
    judged = judge(admission.admitted, needs, blueprint, SiteLimits(job.manifest.most_images))
    rejected = {row.client: "; ".join(row.problems) for row in admission.rejected}
    rejected |= {row.client: row.text for row in judged if row.outcome is Outcome.REJECTED}
    aside += [decision_on(by_client[client], "set aside", reason) for client, reason in rejected.items()]
    return Answers(
        [by_client[row.client] for row in judged if row.outcome is not Outcome.REJECTED],
        aside,
        {by_client[row.client].manifest.site: row for row in judged if row.outcome is Outcome.NEEDS_REVIEW},
    )


def problem_of(job: JobFile, file: UploadFile) -> str | None:
    """Why a file that is whole and signed is still not an answer to this job."""
    manifest, upload = file.manifest, file.upload
    if manifest.job != job.sha256:
        return f"it answers another job ({manifest.job[:8]}, not {job.sha256[:8]})"
    if manifest.site not in job.site_names:
        return f"the job has no site {ascii_repr(manifest.site)}"
    site = job.manifest.sites[job.number_of(manifest.site)]
    if site.key is not None and site.key != file.signer:
        return f"it is signed by {fingerprint(file.signer)}, and the key of {site.name} is {fingerprint(site.key)}"
    if upload.client != job.number_of(manifest.site):
        return f"it says it is client {upload.client}, and {manifest.site} is {job.number_of(manifest.site)}"
    if upload.round != job.work.kept()[-1]:
        return f"it is of round {upload.round}, and the last is {job.work.kept()[-1]}"
    if not parse_time(job.manifest.created) - CLOCKS <= parse_time(manifest.created) < job.expires + CLOCKS:
        return f"it was made on {manifest.created}, outside the time of the job"
    if (manifest.minimum, manifest.privacy) != (job.manifest.minimum, figures_of(job.work)):
        return "it tells another minimum or another privacy than the job"
    if manifest.classes != job.classes:
        return "it was made for other classes"
    extra = sorted(upload.tensors.keys() - job.wire.keys())
    if extra:
        return f"it sends more than was asked for: tensor {ascii_repr(extra[0])}"
    if manifest.masked != (job.manifest.secure is not None):
        return "its numbers are masked, and should not be" if manifest.masked else "its numbers are not masked"
    return misshapen(job, upload.tensors) if manifest.masked else manifest_problem(job, manifest)


def manifest_problem(job: JobFile, manifest: UploadManifest) -> str | None:
    """Of how many images an upload is, it must say; or, where the job withholds that, must not."""
    if job.withholds and (manifest.samples is not None or manifest.metrics):
        return "it tells of its counts, which the job withholds"
    return None if job.withholds or manifest.samples is not None else "it does not tell how many images it has"


def unique(files: Iterable[UploadFile]) -> list[UploadFile]:
    """The same file twice is one file."""
    return list({file.sha256: file for file in files}.values())


def single(files: Sequence[UploadFile]) -> tuple[list[UploadFile], list[Decision]]:
    """Two different answers of one site are none: nobody here can tell which one it means."""
    times = Counter(file.manifest.site for file in files)
    reason = "the site has sent {} different files; name the one it means"
    doubles = [file for file in files if times[file.manifest.site] > 1]
    return (
        [file for file in files if times[file.manifest.site] == 1],
        [decision_on(file, "set aside", reason.format(times[file.manifest.site])) for file in doubles],
    )


def first_answers(there: Sequence[UploadFile], late: Sequence[UploadFile]) -> tuple[list[UploadFile], list[Decision]]:
    """Late files of sites that are not in the model yet; whoever sends another file takes nothing out of it."""
    known = {file.manifest.site: file.sha256 for file in there}
    seconds = [file for file in late if known.get(file.manifest.site, file.sha256) != file.sha256]
    reason = "the model has another file of this site; take that out first, with --without {}"
    aside = [decision_on(file, "set aside", reason.format(file.manifest.site)) for file in seconds]
    return [file for file in late if file not in seconds], aside


def reject_incomplete(used: Sequence[UploadFile], decisions: Sequence[Decision], terms: Terms) -> None:
    """Fewer sites than are needed, or any that was set aside where that stops everything."""
    aside = [decision for decision in decisions if decision.verdict == "set aside"]
    reasons = "; ".join(f"{decision.site}: {decision.reason}" for decision in aside)
    if terms.strict and aside:
        raise FederationError(f"{len(aside)} of the files were set aside ({reasons})", "fuse without --strict to go on")
    if len(used) < max(1, terms.need):
        reason = f" ({reasons})" if reasons else ""
        raise FederationError(
            f"{len(used)} {'site' if len(used) == 1 else 'sites'} can be fused, and "
            f"{'one is' if terms.need <= 1 else f'{terms.need} are'} needed{reason}",
            "ask for their files",
        )


def notes_on(job: JobFile, file: UploadFile, used: Sequence[UploadFile]) -> tuple[str, ...]:
    """What a coordinator should know of a site that was used."""
    notes = []
    counts = None if file.manifest.masked else class_counts(file.upload.tensors)
    small = {} if counts is None else small_classes(counts, job.classes, job.manifest.minimum)
    if small:
        notes.append(f"fewer than {job.manifest.minimum} images of {', '.join(small)}")
    twins = [other.manifest.site for other in used if other.signer == file.signer and other is not file]
    if twins:
        notes.append(f"signed with the key of {', '.join(twins)} too")
    if job.manifest.sites[job.number_of(file.manifest.site)].key is None:
        notes.append(f"the job names no key for it; it signed with {fingerprint(file.signer)}")
    return tuple(notes)


def decision_on(file: UploadFile, verdict: DecisionVerdict, reason: str) -> Decision:
    samples, digest = file.manifest.samples, file_hash(file.data)
    return Decision(file.manifest.site, verdict, reason, samples, None, file.signer, digest, file.box)


def in_order(job: JobFile, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """By site as the job names them; those that sent nothing are there too, files of nobody last."""
    seen = {decision.site for decision in decisions}
    everybody = [*decisions, *(Decision(site, "missing", "no file") for site in job.site_names if site not in seen)]
    place = {site: number for number, site in enumerate(job.site_names)}
    return tuple(sorted(everybody, key=lambda row: (place.get(row.site, len(place)), row.site, row.verdict)))
