"""What a coordinator does with the files of sites: reject broken rules, ask about the unusual, fuse the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from mooring.errors import FederationError, ReviewError
from mooring.federation._answers import Decision, decision_on, in_order, problem_of, single, unique
from mooring.federation._effect import Effects
from mooring.federation._explain import class_counts, small_classes
from mooring.federation._job_file import JobFile
from mooring.federation._judge import Judgement, Outcome, judge
from mooring.federation._keys import fingerprint
from mooring.federation._rules import SiteLimits
from mooring.federation._secure_job import total_of
from mooring.federation._secure_sum import MaskSeeds
from mooring.federation._upload_file import UploadFile
from mooring.fusion import FittedHead, LinearHeadFusion, Predictor, Server, admit, typical_of
from mooring.processes import threads
from mooring.uploads import ascii_repr


@dataclass(frozen=True)
class FusedUploads:
    """One predictor, what is in it, and what is not."""

    predictor: Predictor = field(repr=False)
    decisions: tuple[Decision, ...]
    used: tuple[UploadFile, ...] = field(repr=False)
    images_per_class: tuple[int, ...] = ()  # of all that was used, where the uploads tell
    heads: tuple[FittedHead, ...] = ()  # that the same sums give, the best first


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
    staying = [file for file in taking_part if file not in dropped]
    reject_two_signers([file for file in staying if problem_of(job, file) is None])
    answers = sound_files(job, staying)
    decisions += answers.aside
    used = answers.sound
    reject_unreviewed(job, answers, terms)
    reject_incomplete(used, decisions, terms)
    uploads = [file.upload for file in used] if job.manifest.secure is None else [total_of(job, used, revealed)]
    with threads(1):  # the same bytes on every machine
        predictor = job.fusion(uploads, Server(job.work.blueprint, job.experiment.seed))
        predictor.typical = typical_of(job.fusion.needs, uploads)
        heads = job.fusion.heads(uploads) if isinstance(job.fusion, LinearHeadFusion) else ()
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
    return FusedUploads(predictor, in_order(job, decisions), tuple(used), images, heads)


def reject_unknown_sites(job: JobFile, terms: Terms) -> None:
    """Every site that a coordinator names must be in the job, and cannot be kept and dropped at once."""
    for option, sites in (("--without", terms.without), ("--keep", terms.keep), ("--drop", terms.drop)):
        for site in sites:
            if site not in job.site_names:
                raise FederationError(
                    f"{option} {ascii_repr(site)}: is not a site of this job", f"it has {', '.join(job.site_names)}"
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


def reject_two_signers(answers: Sequence[UploadFile]) -> None:
    """Stop if two accounts speak for one site: without a key in the job, anybody could have a site set aside."""
    for site in dict.fromkeys(file.manifest.site for file in answers):
        signers = sorted({fingerprint(file.signer) for file in answers if file.manifest.site == site})
        if len(signers) > 1:
            raise FederationError(
                f"{site}: has files that are signed with different keys ({', '.join(signers)})",
                "ask the site for its fingerprint and name its file only, or leave the site out with --drop; keys in "
                "the job (mooring plan --key SITE=KEY) prevent this",
            )


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
            "ask for corrected files" if aside else "ask the other sites for their files",
        )


def notes_on(job: JobFile, file: UploadFile, used: Sequence[UploadFile]) -> tuple[str, ...]:
    """What a coordinator should know of a site that was used."""
    notes = []
    counts = None if file.manifest.masked else class_counts(file.upload.tensors)
    small = {} if counts is None else small_classes(counts, job.classes, job.manifest.minimum)
    if small:
        notes.append(f"fewer than {job.manifest.minimum} images of {', '.join(small)}")
    if file.manifest.accepted_disclosure:
        notes.append("the site accepted that images can be rebuilt from its sums")
    twins = [other.manifest.site for other in used if other.signer == file.signer and other is not file]
    if twins:
        notes.append(f"signed with the key of {', '.join(twins)} too")
    if job.manifest.sites[job.number_of(file.manifest.site)].key is None:
        notes.append(f"the job names no key for it; it signed with {fingerprint(file.signer)}")
    return tuple(notes)
