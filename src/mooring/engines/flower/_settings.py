"""What has to be set before Flower is imported: no telemetry is sent, nothing is installed."""

import logging
import os

from mooring.errors import ExtraError

QUIET_ENVIRONMENT = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ENABLE_AUTO_CONNECT": "0",  # Ray begins where we begin it, and never by itself once it has ended
    "RAY_prestart_worker_first_driver": "0",  # Flower's clients live in processes that are started for them
    "RAY_worker_niceness": "0",  # Ray's own is 15: beside any other work its processes would hardly move
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # leave CUDA_VISIBLE_DEVICES alone where no GPU was asked for
}


def ready() -> None:
    """Telemetry off, warnings and errors only; a clear line where the extra is missing."""
    for name, value in QUIET_ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import flwr.app  # noqa: F401
        import ray  # noqa: F401
    except ImportError:
        raise ExtraError("engine=flower: Flower is not installed", "pip install 'mooring[flower]'") from None
    logging.getLogger("flwr").setLevel(logging.ERROR)
