"""How the command line words numbers: counts, times, rounds and accuracies."""


def plural(number: int, noun: str) -> str:
    """`1 run`, `8 runs`"""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def duration(seconds: float) -> str:
    """`80 seconds`, `12 minutes`, `2.5 hours`"""
    if seconds < 90:
        return plural(max(1, round(seconds)), "second")
    return plural(round(seconds / 60), "minute") if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def clock(seconds: float) -> str:
    """`9 s`, `1:20`, `2:05:00`"""
    whole = round(seconds)
    hours, minutes = whole // 3600, whole // 60 % 60
    if hours:
        return f"{hours}:{minutes:02d}:{whole % 60:02d}"
    return f"{minutes}:{whole % 60:02d}" if minutes else f"{whole} s"


def round_of(round_: int, rounds: int) -> str:
    """Rounds are counted from 0, as the notes count them."""
    return f"round {round_} (last: {rounds - 1})"


def client_name(client: int, site: str) -> str:
    """A client in a column of its own: its number, or the name of its site."""
    return str(client) if site in ("", f"client {client}") else site


def interval_of(accuracy: float, images: int | None) -> str:
    """Of one run, over its test images."""
    if not images:
        return "-"
    from mooring.intervals import wilson  # `mooring --help` does not need it

    low, high = wilson(round(accuracy * images), images)
    return f"{low:.3f}-{high:.3f}"


def accuracy_with_interval(accuracy: float, images: int | None) -> str:
    """`0.872 (95 % 0.834-0.903, 360 images)`; without the number of images, the accuracy alone."""
    if not images:
        return f"{accuracy:.3f}"
    return f"{accuracy:.3f} (95 % {interval_of(accuracy, images)}, {plural(images, 'image')})"
