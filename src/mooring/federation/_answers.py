"""Which files are answers to a job, and what becomes of each."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from nacl.signing import SigningKey

from mooring.errors import FederationError
from mooring.federation._container import FileLimits, file_hash, load_bytes
from mooring.federation._job_file import JobFile, parse_time
from mooring.federation._keys import fingerprint
from mooring.federation._log import Entry
from mooring.federation._manifests import without_control
from mooring.federation._privacy import figures_of
from mooring.federation._secure_job import misshapen
from mooring.federation._upload_file import UploadFile, UploadLimits, UploadManifest, read_upload
from mooring.uploads import ascii_repr
from mooring.wording import round_number

DecisionVerdict = Literal["used", "set aside", "left out", "missing"]
CLOCKS = timedelta(days=1)  # that the clocks of two machines may differ
MASKED_TWICE = "under one mask, their difference reveals what they hold: delete them, and plan a new job"
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
        return f"it is of round {round_number(upload.round)}, and the last is {round_number(job.work.kept()[-1])}"
    if not parse_time(job.manifest.created) - CLOCKS <= parse_time(manifest.created) < job.expires + CLOCKS:
        return f"it was made on {manifest.created}, outside the time of the job"
    if (manifest.minimum, manifest.privacy) != (job.manifest.minimum, figures_of(job.work)):
        return "its minimum or its privacy differs from the job"
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
        return "it contains counts, which the job withholds"
    return None if job.withholds or manifest.samples is not None else "it does not tell how many images it has"


def unique(files: Iterable[UploadFile]) -> list[UploadFile]:
    """The same file twice is one file."""
    return list({file.sha256: file for file in files}.values())


def single(files: Sequence[UploadFile]) -> tuple[list[UploadFile], list[Decision]]:
    """Two different answers of one site are none: nobody here can tell which one it means."""
    times = Counter(file.manifest.site for file in files)
    masked = any(file.manifest.masked for file in files)
    reason = f"the site has sent {{}} different files; {MASKED_TWICE if masked else 'name the one it means'}"
    doubles = [file for file in files if times[file.manifest.site] > 1]
    return (
        [file for file in files if times[file.manifest.site] == 1],
        [decision_on(file, "set aside", reason.format(times[file.manifest.site])) for file in doubles],
    )


def first_masked(
    job: JobFile, files: Sequence[UploadFile], earlier: Sequence[Entry]
) -> tuple[list[UploadFile], list[Decision]]:
    """Of a secure sum, no other file of a site than the one that was used before."""
    used = {row.who: row.file for row in earlier if (row.action, row.job) == ("used", job.sha256)}
    seconds = [file for file in files if used.get(file.manifest.site) not in (None, file_hash(file.data))]
    if job.manifest.secure is None or not seconds:
        return list(files), []
    aside = [decision_on(file, "set aside", f"another file of this site was used; {MASKED_TWICE}") for file in seconds]
    return [file for file in files if file not in seconds], aside


def first_answers(there: Sequence[UploadFile], late: Sequence[UploadFile]) -> tuple[list[UploadFile], list[Decision]]:
    """Late files of sites that are not in the model yet; whoever sends another file takes nothing out of it."""
    known = {file.manifest.site: file.sha256 for file in there}
    seconds = [file for file in late if known.get(file.manifest.site, file.sha256) != file.sha256]
    reason = "the model has another file of this site; take that out first, with --without {}"
    aside = [decision_on(file, "set aside", reason.format(file.manifest.site)) for file in seconds]
    return [file for file in late if file not in seconds], aside


def decision_on(file: UploadFile, verdict: DecisionVerdict, reason: str) -> Decision:
    samples, digest = file.manifest.samples, file_hash(file.data)
    return Decision(file.manifest.site, verdict, reason, samples, None, file.signer, digest, file.box)


def in_order(job: JobFile, decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """By site as the job names them; those that sent nothing are there too, files of nobody last."""
    seen = {decision.site for decision in decisions}
    absent = [site for site in job.site_names if site not in seen]
    broken = {Path(decision.site).stem: decision.site for decision in decisions if decision.verdict == "set aside"}
    reasons = {
        site: f"no file but {broken[site]}, which was set aside" if site in broken else "no file" for site in absent
    }
    everybody = [*decisions, *(Decision(site, "missing", reasons[site]) for site in absent)]
    place = {site: number for number, site in enumerate(job.site_names)}
    return tuple(sorted(everybody, key=lambda row: (place.get(row.site, len(place)), row.site, row.verdict)))
