"""From files to a model file: fuse, write, keep what a later fusion needs, and write down what was decided."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from mooring.errors import FederationError
from mooring.federation._answers import Decision, decision_on, first_answers, first_masked, read_files
from mooring.federation._container import file_hash, load_bytes, write_container
from mooring.federation._encoder import EncoderKept, kept_as
from mooring.federation._fuse import FusedUploads, Terms, fuse_uploads
from mooring.federation._job_file import LIMITS, JobFile, read_job
from mooring.federation._kept_uploads import KeptUploads, encode_kept, path_beside, read_kept
from mooring.federation._keys import Identity
from mooring.federation._log import Action, Log
from mooring.federation._model_file import Provenance, SiteShare, model_in_pieces
from mooring.federation._recovery import read_recoveries
from mooring.federation._upload_file import UploadFile
from mooring.federation._withdrawal import fused_again, path_of, signed_statement
from mooring.federation._withheld_counts import WORDS
from mooring.methods import track_of
from mooring.record import environment
from mooring.uploads import NoisedMoments, Pieces

SECURE = "secure sum: the coordinator saw the sum of all sites' numbers, and no site's own"
ACTIONS: dict[str, Action] = {"used": "used", "set aside": "set aside", "left out": "left out"}


@dataclass(frozen=True)
class Made:
    """A model file, and what is behind it."""

    path: Path
    bytes: int
    sha256: str
    fused: FusedUploads
    kept: Path  # the uploads beside it
    encoder: str | None = None  # that is not in it, by its SHA-256
    secure: bool = False  # nobody can join it later, or leave
    statements: tuple[Path, ...] = ()  # that it equals a model which never saw a site


@dataclass(frozen=True)
class Coordinator:
    """Who planned a job, and fuses what comes back."""

    identity: Identity
    log: Log
    encoder: str | None = None  # where the encoder lies that a job names by its SHA-256
    in_model: EncoderKept = "named"  # what becomes of an encoder that is somebody else's
    now: datetime | None = None

    def fuse(self, job_path: Path, paths: Sequence[Path], out: Path, terms: Terms) -> Made:
        """The first model of a job."""
        job = read_job(job_path, self.encoder)
        if job.coordinator != self.identity.public:
            raise FederationError(f"{job_path}: was planned by somebody else", "fuse with the account that planned it")
        reject_absent(paths)
        revealed, uploads = read_recoveries(job, paths, self.identity.key)
        files, aside = read_files(job, uploads, self.identity.key, self._now())
        files, second = first_masked(job, files, self.log.entries())
        fused = fuse_uploads(job, files, terms, [*aside, *second], revealed)
        return self._write(KeptUploads(job, load_bytes(job_path, LIMITS), fused.used), fused, out)

    def fuse_into(self, model: Path, paths: Sequence[Path], out: Path, terms: Terms) -> Made:
        """A model with sites that came late, without those that leave: as if it had been so from the beginning."""
        kept = read_kept(model, self.identity.public, self.encoder)
        if kept.job.manifest.secure is not None:
            raise FederationError(f"--into {model}: a secure sum cannot be added to or taken apart", "plan a new job")
        if not paths and not terms.leaving:
            raise FederationError(f"--into {model}: nothing is to change", "name a file, or a site with --without")
        reject_absent(paths)
        there = {file.manifest.site for file in kept.uploads}
        for site in terms.without:
            if site not in there:
                raise FederationError(f"--without {site}: is not in this model", f"it has {', '.join(sorted(there))}")
        new, aside = read_files(kept.job, paths, self.identity.key, self._now())
        new, second = first_answers(kept.uploads, new)
        leaving = [file for file in kept.uploads if file.manifest.site in terms.without]
        files = [file for file in (*kept.uploads, *new) if file.manifest.site not in terms.without]
        fused = fuse_uploads(kept.job, files, replace(terms, without=()), [*aside, *second])
        rest = KeptUploads(kept.job, kept.job_data, fused.used)
        earlier = file_hash(load_bytes(model))
        made = self._write(rest, fused, out, earlier, leaving)
        for site in (site for site in terms.leaving if site in there):
            self.log.note("withdrawn", kept.job.sha256, made.sha256, site, "its upload is no longer kept")
        withdrawn = {file.manifest.site: decision_on(file, "left out", "withdrawn") for file in leaving}
        decisions = tuple(withdrawn.get(row.site, row) for row in fused.decisions)  # the model only says "no file"
        return replace(made, fused=replace(fused, decisions=decisions))

    def _write(
        self, kept: KeptUploads, fused: FusedUploads, out: Path, earlier: str = "", leaving: Sequence[UploadFile] = ()
    ) -> Made:
        """The model file, its uploads beside it, a statement for every upload that is no longer in it, as it was in
        the `earlier` model, and a line in the log for every decision."""
        data, encoder = self._encode(kept, fused)
        beside, digest, job = path_beside(out), data.sha256, kept.job.sha256
        if leaving:
            self._reject_traces(kept, fused, digest)
        for file in leaving:
            statement = signed_statement(file, kept, (earlier, digest), self.identity.key)
            write_container(path_of(file.manifest.site, out), statement)
        write_container(beside, encode_kept(kept, digest, self.identity.key))
        write_container(out, data)
        for row in fused.decisions:
            if row.verdict in ACTIONS:
                came = "" if row.box is None else f"; it came sealed, SHA-256 {row.box}"
                words = "; ".join(filter(None, (row.reason or "in the model", row.seen))) + came
                self.log.note(ACTIONS[row.verdict], job, row.file or "", row.site, words)
        self.log.note(
            "fused",
            job,
            digest,
            self.identity.public,
            f"{len(fused.used)} of {len(kept.job.site_names)} sites, {data.size} bytes",
        )
        secure, statements = (
            kept.job.manifest.secure is not None,
            [path_of(file.manifest.site, out) for file in leaving],
        )
        return Made(out, data.size, digest, fused, beside, encoder, secure, tuple(statements))

    def _reject_traces(self, kept: KeptUploads, fused: FusedUploads, digest: str) -> None:
        """A second fusion that begins with the bytes of the other sites' uploads must end in the same model."""
        second = replace(fused, predictor=fused_again(kept, self.encoder))
        if self._encode(kept, second)[0].sha256 != digest:
            raise FederationError(
                "the uploads of the other sites made two different models, so no withdrawal can be stated",
                "plan a new job without the site",
            )

    def _encode(self, kept: KeptUploads, fused: FusedUploads) -> tuple[Pieces, str | None]:
        """The model file, and the SHA-256 of an encoder that is not in it."""
        predictor, encoder = kept_as(self.in_model, fused.predictor)
        provenance = replace(provenance_of(kept, fused), encoder=encoder)
        return model_in_pieces(predictor, provenance, key=self.identity.key), encoder

    def _now(self) -> datetime:
        return self.now or datetime.now(UTC)


def provenance_of(kept: KeptUploads, fused: FusedUploads) -> Provenance:
    job = kept.job
    return Provenance(
        origin="federation",
        method=job.manifest.method,
        fusion=job.fusion.kind,
        track=track_of(job.fusion),
        job_sha256=job.work.sha256,
        seed=job.experiment.seed,
        sites=tuple(replace(share_of(row), is_site=row.site in job.site_names) for row in fused.decisions),
        images_per_class=fused.images_per_class,
        protections=protections(job),
        reading=job.images.reading(),
        versions=environment().packages,
    )


def protections(job: JobFile) -> tuple[str, ...]:
    """What was done to hide a site's numbers, in words."""
    noise = [part.privacy.sentence for part in job.work.needs if isinstance(part, NoisedMoments)]
    secure = [] if job.manifest.secure is None else [SECURE]
    return (*noise, *secure, *([WORDS] if job.withholds else []))


def share_of(decision: Decision) -> SiteShare:
    """What everybody may read of a site; of one that left, that it did, and nothing of what it had sent."""
    if decision.verdict == "left out":
        return SiteShare(decision.site, False, reason=f"{decision.verdict}: {decision.reason}")
    used = decision.verdict == "used"
    kept = f"{decision.reason}: {decision.seen}" if decision.seen else ""
    reason = kept if used else f"{decision.verdict}: {decision.reason}"
    return SiteShare(decision.site, used, decision.samples, decision.weight, decision.file, reason)


def reject_absent(paths: Sequence[Path]) -> None:
    """A name that nothing has is a slip of whoever types; what a site sent is set aside, this is asked again."""
    for path in paths:
        if not path.exists():
            raise FederationError(f"{path}: there is no such file", "name the files that came from the sites")
