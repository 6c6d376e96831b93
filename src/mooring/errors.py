"""What can go wrong through no fault of ours: one sentence, one remedy, exit code 2.

Everything a user can cause raises a `MooringError`; anything else is a bug and keeps its traceback.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

MOST_PROBLEMS = 20  # of a configuration that are reported


class MooringError(Exception):
    """A user's mistake: what is wrong, and what to do about it.

    >>> from mooring import MooringError, load
    >>> try:
    ...     load(overrides=["method=v7", "training.rounds=0"])
    ... except MooringError as error:
    ...     print(error.exit_code)
    2
    """

    exit_code = 2

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}; {self.remedy}" if self.remedy else self.problem


class Interruption(MooringError):  # noqa: N818
    """Ctrl-C: what was saved, and how to go on."""

    exit_code = 130


class ConfigError(MooringError):
    """Every problem of a configuration at once, each with its own field, value and remedy."""

    def __init__(self, problems: Iterable[str]) -> None:
        messages = tuple(problems)
        more = len(messages) - MOST_PROBLEMS
        self.problems = (*messages[:MOST_PROBLEMS], f"... and {more:,} more") if more > 0 else messages
        super().__init__("\n".join(self.problems))


class TrustError(MooringError):
    """A folder names code that nobody has said to trust."""


class DataError(MooringError):
    """A data source is missing, unreadable or makes no sense; one line, whatever a file is called or holds."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(one_line(problem), one_line(remedy))


class PartitionError(MooringError):
    """The training data cannot be divided as asked."""


class ModelError(MooringError):
    """A model cannot be built for these images, classes or anchors."""


class TrainingError(MooringError):
    """A client's training cannot go on; the other clients are not touched."""


class UploadError(MooringError):
    """What arrived is no upload, or not one that was asked for; the same of a state or a saved predictor."""


class FusionError(MooringError):
    """Uploads cannot be fused."""


class FederationError(MooringError):
    """A job, an upload or a model in a file cannot be used, or is not to be trusted; one line, whatever it holds."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        super().__init__(one_line(problem), one_line(remedy))


class ReviewError(MooringError):
    """Uploads are unusual, and a person must decide about them: one line for each site."""

    def __init__(self, findings: Iterable[str], remedy: str = "") -> None:
        self.findings = tuple(one_line(finding) for finding in findings)
        needs = "site needs" if len(self.findings) == 1 else "sites need"
        super().__init__(f"{len(self.findings)} {needs} review: {' | '.join(self.findings)}", one_line(remedy))


class StoreError(MooringError):
    """A run folder cannot be read or written."""


class UserCodeError(MooringError):
    """The user's own code failed: file, line and message; `trace` is the whole traceback, for whoever wants it."""

    def __init__(self, problem: str, remedy: str = "", trace: str = "") -> None:
        super().__init__(problem, remedy)
        self.trace = trace


class ExtraError(MooringError):
    """A library of an extra is not installed."""


def one_line(text: str) -> str:
    """Text that may come from a file's name or content: what would break the line or steer a terminal is spelled."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def needed(module: str, extra: str = "") -> Any:
    """A library of an extra, or one that only users bring, imported when it is needed and not before."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        wanted = f"'mooring[{extra}]'" if extra else package
        raise ExtraError(f"{package}: is not installed", f"pip install {wanted}") from None
    except RuntimeError as error:  # as torchvision does when it was built for another torch
        package = module.partition(".")[0]
        raise ExtraError(
            f"{package}: cannot be imported ({one_line(str(error))})", f"install {package} again"
        ) from None


def nearest(name: str, valid: Iterable[str], listed_by: str = "") -> str:
    """A remedy for a misspelt name: the nearest valid one, or all of them, or the command that lists them."""
    names = sorted(valid)
    close = get_close_matches(name, names, n=1, cutoff=0.6) or [n for n in names if len(name) > 2 and name in n]
    if close:
        return f"did you mean {close[0]!r}?"
    if listed_by:
        return f"`{listed_by}` lists them"
    return f"valid: {', '.join(names)}" if names else "nothing is valid here"
