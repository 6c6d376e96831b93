"""The same clients on Flower, the field's standard engine: its simulation here, or its SuperNodes over a network.

Importing this room does not import Flower; without the extra, using it raises a one-line error.
"""

from mooring.engines.flower._engine import Flower
from mooring.engines.flower._settings import QUIET_ENVIRONMENT

__all__ = ["QUIET_ENVIRONMENT", "Flower"]
