"""The same clients on Flower, the field's standard engine: its simulation here, or its SuperNodes over a network.

Importing this room does not import Flower; whoever asks for it without the extra is told so in one line.
"""

from mooring.engines.flower.engine import Flower

__all__ = ["Flower"]
