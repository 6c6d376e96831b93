"""An accuracy where there is little room: how sure it is, and how many images say so."""

from mooring.cli.arguments import plural
from mooring.intervals import wilson


def interval_of(accuracy: float, images: int | None) -> str:
    """Of one run, over its test images."""
    if not images:
        return "-"
    low, high = wilson(round(accuracy * images), images)
    return f"{low:.3f}-{high:.3f}"


def accuracy_with_interval(accuracy: float, images: int | None) -> str:
    """`0.872 (95 % 0.834-0.903, 360 images)`; of a log that does not say how many, the accuracy alone."""
    if not images:
        return f"{accuracy:.3f}"
    return f"{accuracy:.3f} (95 % {interval_of(accuracy, images)}, {plural(images, 'image')})"
