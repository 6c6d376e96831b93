"""The same clients on Flower, the field's standard engine: its simulation here, or its SuperNodes over a network.

Importing this room does not import Flower; without the extra, using it raises a one-line error.
"""

from mooring.engines.flower._engine import QUIET_ENVIRONMENT, Flower

__all__ = ["QUIET_ENVIRONMENT", "Flower"]
