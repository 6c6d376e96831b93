"""The ServerApp: send the job to every node, keep what comes back, fuse when all sites are here or time is up."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from mooring.errors import FederationError, one_line
from mooring.federation.container import load
from mooring.federation.coordinator import Coordinator
from mooring.federation.fuse import Terms
from mooring.federation.job_file import LIMITS, read_job
from mooring.federation.keys import fingerprint, home, own_identity
from mooring.federation.log import Log
from mooring.flower_app.asking import Asking
from mooring.flower_app.received import Received

LOG = logging.getLogger("flwr")
app = ServerApp()


@dataclass(frozen=True)
class RunSettings:
    """The keys of `flwr run --run-config`; paths are those of the machine of the SuperLink."""

    job: str
    out: str
    need: int  # uploads; 0 is one from every site that the job names
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
    for message in asking.replies(lambda: not (received.silent or (received.missing and asking.at_work))):
        received.take(message)
    for site, reason in received.refusals.items():
        LOG.warning("mooring: no upload from %s: %s", site, reason)
    if received.silent:
        LOG.warning("mooring: after %.0f s nothing from %s", settings.deadline, ", ".join(received.silent))
    need = settings.need or len(job.site_names)
    if len(received.files) < need:
        raise too_few(received, need)
    coordinator = Coordinator(identity, Log(home()), settings.encoder or None)
    made = coordinator.fuse(Path(settings.job), sorted(received.paths), Path(settings.out), Terms(need=need))
    for row in made.fused.decisions:
        LOG.info("mooring: %s: %s %s", row.site, row.verdict, one_line(row.reason))
    LOG.info("mooring: %s holds %d sites", made.path, len(made.fused.used))


app.main()(main)


def too_few(received: Received, need: int) -> FederationError:
    absent = {"refused": list(received.refusals), "silent": received.silent}
    told = [f"{len(received.files)} of {need} needed uploads have come"]
    told += [f"{how}: {', '.join(sites)}" for how, sites in absent.items() if sites]
    kept = f"what came is in {received.folder} and is used again; " if received.files else ""
    return FederationError("; ".join(told), f"{kept}mend what the sites say, then run again, or with a smaller need")


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
