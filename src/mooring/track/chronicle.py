"""A run as dashboards want it: settings, numbers over rounds, numbers at the end."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mooring.config.tree import read_file
from mooring.store import read_events, read_result

TRACED = ("base_loss", "align_loss", "lambda_raw", "lambda", "lambda_star", "train_accuracy")
FINAL = ("accuracy", "balanced_accuracy", "macro_f1", "calibration_error", "seconds")


@dataclass(frozen=True)
class Point:
    """One number of one round, and when it was known (seconds since 1970; 0 if nobody noted it)."""

    name: str  # "accuracy", or "lambda/client-3"
    round: int
    value: float
    time: float


@dataclass(frozen=True)
class Chronicle:
    """All that is shown of a run; `final` is None while it is running."""

    name: str
    identity: str  # hash of the folder and of when its run began: a run repeated there is another one
    settings: dict[str, str | int | float | bool]
    points: tuple[Point, ...]
    final: dict[str, float] | None
    facts: dict[str, str]

    @property
    def end(self) -> tuple[int, float]:
        """The last round, and when it was known."""
        return max(((point.round, point.time) for point in self.points), default=(0, 0.0))


def read_chronicle(folder: Path, name: str) -> Chronicle:
    events = read_events(folder)
    result = read_result(folder) if (folder / "result.json").exists() else None
    began = next((event["time"] for event in events), None)
    points = {(point.name, point.round): point for point in [*from_events(events), *alone(events, result)]}
    return Chronicle(
        name,
        sha256(f"{folder.absolute()} {began}".encode()).hexdigest(),
        dict(flattened("", read_file(folder / "experiment.yaml"))),
        tuple(points.values()),  # a resumed run tells a round twice: the last word counts
        None if result is None else final_of(result),
        facts_of(folder, result),
    )


def from_events(events: list[dict[str, Any]]) -> Iterator[Point]:
    for event in events:
        if event["event"] == "fused":
            yield from numbers("", event["round"], event, ("accuracy",), event["time"])
        elif event["event"] == "round":
            yield from numbers(f"/client-{event['client']}", event["round"], event, TRACED, event["time"])


def alone(events: list[dict[str, Any]], result: Mapping[str, Any] | None) -> Iterator[Point]:
    """What clients reach by themselves is known with the result."""
    times = {event["round"]: event["time"] for event in events if event["event"] == "fused"}
    for row in [] if result is None else result["rounds"]:
        for client in row["clients"]:
            own = {"accuracy_alone": client["accuracy"]}
            yield from numbers(f"/client-{client['client']}", row["round"], own, tuple(own), times.get(row["round"]))


def numbers(
    suffix: str, round_: int, fields: Mapping[str, Any], names: tuple[str, ...], time: float | None
) -> Iterator[Point]:
    """Null, which is also what became of a number that was not finite, is not shown."""
    for name in names:
        if fields.get(name) is not None:
            yield Point(f"{name}{suffix}", round_, float(fields[name]), time or 0.0)


def final_of(result: Mapping[str, Any]) -> dict[str, float]:
    numbers = {name: float(result[name]) for name in FINAL if result[name] is not None}
    last = result["rounds"][-1]["round"]
    sent = [upload["bytes"] for upload in result["uploads"] if upload["round"] == last]
    return numbers | ({"upload_bytes": float(sum(sent))} if sent else {})


def facts_of(folder: Path, result: Mapping[str, Any] | None) -> dict[str, str]:
    told = {} if result is None else {name: result.get(name) for name in ("fingerprint", "log", "dataset", "method")}
    return {"folder": str(folder.absolute()), **{name: str(value) for name, value in told.items() if value is not None}}


def flattened(path: str, value: Any) -> Iterator[tuple[str, str | int | float | bool]]:
    """{a: {b: 1}, c: [2]} -> a.b = 1, c.0 = 2; what is null is not shown."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from flattened(f"{path}.{key}" if path else str(key), part)
    elif isinstance(value, list):
        for i, part in enumerate(value):
            yield from flattened(f"{path}.{i}", part)
    elif isinstance(value, str | int | float | bool):
        yield path, value
