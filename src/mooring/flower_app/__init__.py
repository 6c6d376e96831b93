"""A federation over Flower: the same signed job and the same signed uploads as by file, carried by its SuperLink.

`pyproject.toml` names `server:app` and `client:app`. The bundle that `flwr run` sends holds no code: every machine runs
the mooring that is installed there.
"""

from mooring.flower_app._keys import CONNECTION, make_keys
from mooring.flower_app._waiting import wait_for

__all__ = [
    "CONNECTION",
    "make_keys",
    "wait_for",
]
