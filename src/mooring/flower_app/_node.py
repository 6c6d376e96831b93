"""What a site's SuperNode does when it is asked: verify the job, train once, keep the upload, send the same bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from mooring.errors import FederationError
from mooring.events import Emit, silent
from mooring.federation import (
    JOB,
    LIMITS,
    JobFile,
    Log,
    Overlap,
    SiteRules,
    approve,
    decode_container,
    fingerprint,
    folder_of,
    is_key,
    load_bytes,
    opened_job,
    own_identity,
    train,
)
from mooring.federation import home as usual_home
from mooring.schema import Builder
from mooring.uploads import ascii_repr

EXAMPLE = """flower-supernode --node-config 'name="north" data="/images" coordinator="KEY"'"""
UPLOADS = "flower"  # folder in a site's home with the uploads that were sent, or would have been


@dataclass(frozen=True)
class Node:
    """How a site has set up its SuperNode: the keys of `--node-config`."""

    name: str  # of the site, as the job has it
    data: str  # folder with one folder of images for each class
    coordinator: str = ""  # public key: jobs that it signed are approved; without one, `mooring approve` each
    home: str = ""  # the site's key, log, states and uploads
    encoder: str = ""  # where the encoder's file lies, if the job names one by its SHA-256
    seal: bool = False  # nobody but the coordinator can open the upload
    allow_small_classes: bool = False
    accept_disclosure: bool = False  # send sums although images can be rebuilt from them
    least_sites: int = 3  # of a secure sum, with different keys
    overlap: Overlap = "warn"  # or stop: if a secure sum and an earlier one reveal single sites together

    @property
    def rules(self) -> SiteRules:
        return SiteRules(self.accept_disclosure, self.least_sites, self.overlap)

    @property
    def place(self) -> Path:
        return Path(self.home) if self.home else usual_home()


def node_of(config: Mapping[str, bool | float | int | str]) -> Node:
    """The keys of `--node-config`, all of them known."""
    builder = Builder()
    node: Node = builder.build(Node, {key: value for key, value in config.items() if value != ""})
    if builder.problems:
        raise FederationError("; ".join(f"--node-config {problem.message}" for problem in builder.problems), EXAMPLE)
    if node.coordinator and not is_key(node.coordinator):
        raise FederationError(
            f"--node-config coordinator={ascii_repr(node.coordinator)}: is not a public key",
            "ask the coordinator what `mooring keys` shows there",
        )
    return node


def job_for(node: Node, data: bytes) -> JobFile:
    """The job, if the coordinator of this node signed it, or the site has approved it: nothing is built before."""
    held = decode_container(data, JOB, LIMITS, "the job")
    if node.coordinator and held.signer != node.coordinator:
        signer = "nobody" if held.signer is None else fingerprint(held.signer)
        raise FederationError(
            f"the job is signed by {signer}, and the coordinator of this node is {fingerprint(node.coordinator)}",
            "send a job of that coordinator, or change --node-config coordinator at the site",
        )
    log = Log(node.place)
    if not node.coordinator and not log.has("approved", held.sha256):
        raise FederationError("the job was not approved at the site", "run `mooring approve JOB` there, then ask again")
    job = opened_job(held, "the job", node.encoder or None)
    job.number_of(node.name)
    approve(job, log)
    return job


def upload_for(node: Node, job: JobFile, emit: Emit = silent) -> bytes:
    """The bytes of this site's one upload: made the first time, sent again every other time."""
    path = node.place / UPLOADS / f"{job.sha256[:16]}-{node.name}.mooring"
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(path.with_suffix(".lock")):
        if not node_answers(path, job):
            site = folder_of(job, node.name, Path(node.data))
            identity, log = own_identity(node.place), Log(node.place)
            small = node.allow_small_classes
            train(job, site, path, identity, log, allow_small=small, sealed=node.seal, rules=node.rules, emit=emit)
        return load_bytes(path)


def node_answers(path: Path, job: JobFile) -> bool:
    """Is there a whole upload for this very job?"""
    if not path.exists():
        return False
    try:
        return decode_container(load_bytes(path), None, what=str(path)).manifest.get("job") == job.sha256
    except FederationError:
        return False
