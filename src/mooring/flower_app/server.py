"""The ServerApp: send the job to every node, keep what comes back, fuse when all sites are here or time is up."""

import logging
from datetime import UTC, datetime
from pathlib import Path

from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from mooring.errors import FederationError, MooringError, ReviewError, one_line
from mooring.federation import LIMITS, Coordinator, Log, Terms, fingerprint, home, load_bytes, own_identity, read_job
from mooring.flower_app._asking import Asking
from mooring.flower_app._received import Received
from mooring.flower_app._settings import settings_of

LOG = logging.getLogger("flwr")
REVIEW = 'look into it with the sites, then run again with keep="SITE,..." or drop="SITE,..." in --run-config'
UNHANDLED = "An unhandled exception occurred in the ServerApp"  # Flower's last line, whatever was raised
MISTAKES: list[MooringError] = []  # of this process, which runs one ServerApp
app = ServerApp()


def main(grid: Grid, context: Context) -> None:
    """One job, one upload from every site, one model; what can be checked is checked before anything is sent."""
    LOG.addFilter(mistakes_are_one_line)
    settings = settings_of(context.run_config)
    job = read_job(Path(settings.job), settings.encoder or None)
    job.reject_expired(datetime.now(UTC))
    identity = own_identity()
    if job.coordinator != identity.public:
        raise FederationError(
            f"{settings.job}: was planned by {fingerprint(job.coordinator)}, and the key here is "
            f"{fingerprint(identity.public)}",
            "start the SuperLink with the account that planned it, or with its MOORING_HOME",
        )
    need = settings.need_of(len(job.site_names))
    received = Received(job, settings.received, identity)
    received.read()
    asking = Asking(
        grid,
        lambda: {"job": load_bytes(Path(settings.job), LIMITS), "have": " ".join(sorted(received.files))},
        settings.deadline,
        settings.again,
    )
    for reply in asking.replies(lambda: not (received.silent or (received.missing and asking.at_work))):
        received.take(reply)
    for site, reason in received.rejections.items():
        LOG.warning("mooring: no upload from %s: %s", site, reason)
    if received.silent:
        LOG.warning("mooring: after %.0f s nothing from %s", settings.deadline, ", ".join(received.silent))
    if len(received.files) < need:
        raise too_few(received, need)
    coordinator = Coordinator(identity, Log(home()), settings.encoder or None)
    terms = Terms(need=max(1, need - len(settings.dropped)), keep=settings.kept, drop=settings.dropped)
    try:
        made = coordinator.fuse(Path(settings.job), sorted(received.paths), Path(settings.out), terms)
    except ReviewError as review:
        raise ReviewError(review.findings, f"{REVIEW}; the uploads are kept in {received.folder}") from None
    for row in made.fused.decisions:
        LOG.info("mooring: %s: %s", row.site, one_line(f"{row.verdict} {row.reason}".strip()))
    LOG.info("mooring: %s holds %d sites", made.path, len(made.fused.used))


app.main()(main)


def mistakes_are_one_line(record: logging.LogRecord) -> bool:
    """Flower logs whatever a ServerApp raises with its traceback, then counts the run as failed: a user's mistake is
    reported as everywhere else, a bug keeps its traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, MooringError):
        record.msg, record.args, record.exc_info = "mooring: %s", (error,), None
        MISTAKES.append(error)
    return not (MISTAKES and UNHANDLED in str(record.msg))


def too_few(received: Received, need: int) -> FederationError:
    absent = {"rejected": list(received.rejections), "silent": received.silent}
    lines = [f"{len(received.files)} of {need} needed uploads have come"]
    lines += [f"{how}: {', '.join(sites)}" for how, sites in absent.items() if sites]
    kept = f"what came is in {received.folder} and is used again; " if received.files else ""
    return FederationError("; ".join(lines), f"{kept}correct the missing sites and run again, or take a smaller need")
