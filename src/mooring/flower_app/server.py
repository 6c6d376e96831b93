"""The ServerApp: send the job to every node, keep what comes back, fuse when all sites are here or time is up."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from flwr.app import Context, Message
from flwr.serverapp import Grid, ServerApp

from mooring.engines.flower.messages import answer_of
from mooring.errors import FederationError, UploadError, one_line
from mooring.federation.container import load, write
from mooring.federation.coordinator import Coordinator
from mooring.federation.fuse import Terms, problem_of, read_files
from mooring.federation.job_file import LIMITS, Job, read_job
from mooring.federation.keys import Identity, fingerprint, home, own_identity
from mooring.federation.log import Log
from mooring.flower_app.asking import Asking

LOG = logging.getLogger("flwr")
LONGEST = 500  # letters of what a node may say in the log
app = ServerApp()


@dataclass(frozen=True)
class RunSettings:
    """The keys of `flwr run --run-config`; paths are those of the machine of the SuperLink."""

    job: str
    out: str
    need: int  # sites; 0 is all that the job names
    deadline: float  # seconds until what is there is fused
    again: float  # seconds until a silent node is asked again
    encoder: str

    @property
    def received(self) -> Path:
        """Uploads as they came; a second run asks only for those that are missing."""
        return Path(f"{self.out.removesuffix('.mooring')}.received")


def main(grid: Grid, context: Context) -> None:
    """One job, one upload from every site, one model."""
    settings = settings_of(context.run_config)
    job = read_job(Path(settings.job), settings.encoder or None)
    job.refuse_expired(datetime.now(UTC))
    identity = own_identity()
    if job.coordinator != identity.public:
        raise FederationError(
            f"{settings.job}: was planned by {fingerprint(job.coordinator)}, and the key here is "
            f"{fingerprint(identity.public)}",
            "start the SuperLink with the account that planned it, or with its MOORING_HOME",
        )
    received = Received(job, settings.received, identity)
    received.read()
    asking = Asking(
        grid,
        lambda: {"job": load(Path(settings.job), LIMITS), "have": " ".join(sorted(received.files))},
        settings.deadline,
        settings.again,
    )
    for message in asking.replies(lambda: not received.missing):
        received.take(message)
    need = settings.need or len(job.site_names)
    if received.missing:
        LOG.warning("mooring: after %.0f s nothing from %s", settings.deadline, ", ".join(received.missing))
    if len(received.files) < need:
        raise FederationError(
            f"{len(received.files)} of {need} sites have answered; missing: {', '.join(received.missing)}",
            f"what came is in {settings.received}: run again to ask the others, or with a smaller need",
        )
    coordinator = Coordinator(identity, Log(home()), settings.encoder or None)
    made = coordinator.fuse(Path(settings.job), sorted(received.paths), Path(settings.out), Terms(need=need))
    for row in made.fused.decisions:
        LOG.info("mooring: %s: %s %s", row.site, row.verdict, one_line(row.reason))
    LOG.info("mooring: %s holds %d sites", made.path, len(made.fused.used))


app.main()(main)


def settings_of(config: Mapping[str, bool | float | int | str]) -> RunSettings:
    settings = RunSettings(
        job=str(config["job"]),
        out=str(config["out"]),
        need=int(config["need"]),
        deadline=float(config["deadline"]),
        again=float(config["again"]),
        encoder=str(config["encoder"]),
    )
    if not settings.job:
        raise FederationError(
            "--run-config has no job", """flwr run . SUPERLINK --run-config 'job="/path/job.mooring"'"""
        )
    if settings.need < 0 or settings.deadline <= 0 or settings.again <= 0:
        raise FederationError("--run-config need, deadline, again: are below 0", "give positive numbers")
    return settings


@dataclass
class Received:
    """The uploads that arrived, each on disk before anything else is done with it."""

    job: Job
    folder: Path
    identity: Identity
    files: dict[str, str] = field(default_factory=dict)  # site -> SHA-256 of its file
    paths: set[Path] = field(default_factory=set)  # two for a site for which two nodes have spoken

    @property
    def missing(self) -> list[str]:
        return [site for site in self.job.site_names if site not in self.files]

    def read(self) -> None:
        """What an earlier run left."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for path in sorted(self.folder.glob("*.mooring")):
            self._check(path)

    def take(self, message: Message) -> None:
        """What one node says: its upload, that it was here before, or why there is none."""
        node = message.metadata.src_node_id
        if message.has_error():
            LOG.warning("mooring: node %s: %s; asked again", node, one_line(str(message.error.reason))[:LONGEST])
            return
        try:
            answer = answer_of(message)
        except UploadError as error:
            LOG.error("mooring: %s", error)
            return
        site = one_line(answer.words.get("site", ""))[:LONGEST]
        for data in answer.uploads.values():
            draft = self.folder / f".{node}.draft"
            write(draft, data)
            problem = self._check(draft)
            if problem:
                draft.unlink()
                LOG.error("mooring: node %s (%s): set aside: %s", node, site, one_line(problem))
            else:
                LOG.info("mooring: %s: %d bytes", site, len(data))
        if "refused" in answer.words:
            LOG.error("mooring: node %s (%s): %s", node, site, one_line(answer.words["refused"])[:LONGEST])

    def _check(self, path: Path) -> str:
        """Why a file is no answer to this job; one that is gets the name of its site."""
        files, aside = read_files(self.job, [path], self.identity.key, datetime.now(UTC))
        for decision in aside:
            return decision.reason
        [file] = files
        problem = problem_of(self.job, file)
        if problem is None:
            site = file.manifest.site
            place = path.replace(self.folder / f"{site}-{file.sha256[:8]}.mooring")
            self.paths.add(place)
            self.files[site] = file.sha256
        return problem or ""
