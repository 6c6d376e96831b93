"""Planning: from words to a job file, without seeing an image."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from secrets import token_hex

from mooring.config import Experiment, job_of, with_paths
from mooring.data import ImageFolder
from mooring.errors import FederationError
from mooring.federation._container import decode_container, is_key
from mooring.federation._encoder import encoder_of_rule
from mooring.federation._job_file import (
    JOB,
    LIMITS,
    NONCE,
    JobFile,
    JobManifest,
    JobSite,
    encode_job,
    experiment_tree,
    opened_job,
    plans_of,
    usable,
    wire_of,
)
from mooring.federation._keys import Identity
from mooring.federation._manifests import check_classes, check_sites
from mooring.federation._secure_job import plan_of
from mooring.federation._withheld_counts import Counts, reject_counting
from mooring.uploads import ascii_repr, limits_for
from mooring.version import VERSION

USUAL_MINIMUM = 10  # images of a class: sums over few are close to the features of one
USUAL_DAYS = 90
MANIFEST_BYTES = 2**20  # of an upload, beside its tensors


def plan(  # noqa: PLR0913
    experiment: Experiment,
    classes: Sequence[str],
    sites: Sequence[str],
    identity: Identity,
    *,
    keys: Mapping[str, str] | None = None,
    minimum: int = USUAL_MINIMUM,
    now: datetime | None = None,
    expires: datetime | None = None,
    secure_images: int | None = None,
    counts: Counts = "told",
    most_images: int | None = None,
) -> tuple[bytes, JobFile]:
    """The bytes of a job file, and the job as every site will read it: it is read back before it is handed out.

    `secure_images`: nobody sees a site's numbers, and all sites together have at most so many images. `counts`: how
    many images a site has. `most_images`: a site that claims more is rejected.
    """
    check_sites(sites)
    check_classes(classes)
    known = dict(keys or {})
    for name, key in known.items():
        if name not in sites:
            raise FederationError(
                f"--key {ascii_repr(name)}: is not a site of this job", f"--sites has {', '.join(sites)}"
            )
        if not is_key(key):
            raise FederationError(
                f"--key {name}={ascii_repr(key)}: is not a public key", "ask the site what `mooring keys` shows there"
            )
    if not isinstance(experiment.data, ImageFolder):
        raise FederationError("data.source: sites have folders of images", "leave data.source out")
    if minimum < 1:
        raise FederationError(f"--minimum {minimum}: is below 1", "give at least 1; small classes give images away")
    if most_images is not None and most_images < 1:
        raise FederationError(f"--most-images {most_images}: is below 1", "give at least 1, or leave it out")
    if most_images is not None and (counts == "withheld" or secure_images is not None):
        raise FederationError(
            "--most-images: cannot be checked, because sites do not send how many images they have", "leave it out"
        )
    usable(experiment)
    if counts == "withheld" and secure_images is not None:
        raise FederationError(
            "--withhold-counts: a secure sum hides every site's counts; only their total can be read", "leave it out"
        )
    shape = experiment.data.image_shape()
    assert shape is not None, "an experiment decides the size of its images"
    work = job_of(experiment, shape, tuple(classes))
    if counts == "withheld":
        reject_counting(work.needs, experiment.name)
    secure = None if secure_images is None else plan_of(work, secure_images, known, len(sites))
    wire = wire_of(work, secure)
    began = (now or datetime.now(UTC)).replace(microsecond=0)
    ends = (expires or began + timedelta(days=USUAL_DAYS)).replace(microsecond=0)
    if ends <= began:
        raise FederationError(f"--expires {ends.date()}: is over", "give a day to come")
    manifest = JobManifest(
        method=experiment.label_elsewhere,
        experiment=experiment_tree(experiment),
        classes=tuple(classes),
        sites=tuple(JobSite(name, known.get(name)) for name in sites),
        minimum=minimum,
        most_bytes=limits_for(wire).bytes + MANIFEST_BYTES,
        created=began.isoformat(),
        expires=ends.isoformat(),
        work=work.sha256,
        uploads=plans_of(wire),
        mooring=VERSION,
        nonce=token_hex(NONCE),
        secure=secure,
        counts=counts,
        encoder=encoder_of_rule(experiment.method.fusion),
        most_images=most_images,
    )
    data = encode_job(manifest, identity.key)
    held = decode_container(data, JOB, LIMITS, "job")
    return data, opened_job(held, "job", encoder_of(experiment))


def encoder_of(experiment: Experiment) -> str | None:
    """The file that the method's encoder is, on this machine."""
    found: list[str] = []

    def note(_: str, path: str | None) -> str | None:
        found.extend([path] if path else [])
        return path

    with_paths(experiment.method, note)
    return next(iter(found), None)
