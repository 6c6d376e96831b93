"""`events.jsonl`: one line per event, append only; a line that a crash cut off is passed over."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from time import time

from mooring.errors import StoreError
from mooring.events import KEPT, Event
from mooring.record._files import read_bytes
from mooring.record._result import FORMAT
from mooring.schema import from_tree, record_tree, strict_json

EVENTS = "events.jsonl"
AGAIN = "repeat the run with --again"
HEADER = "events"  # the event name of the first line, which holds the format


@dataclass(frozen=True)
class TimedEvent:
    """An event, and when it was written (seconds since 1970)."""

    time: float | None
    event: Event


def header() -> str:
    return strict_json({"time": time(), "event": HEADER, "format": FORMAT}) + "\n"


def event_line(event: Event, when: float | None) -> str:
    return strict_json({"time": when, "event": event.word, **record_tree(event)}) + "\n"


def events_text(events: Iterable[Event]) -> str:
    """Events as the text of a file, for those who send them elsewhere."""
    return header() + "".join(event_line(event, None) for event in events)


def read_events(path: Path) -> tuple[TimedEvent, ...]:
    """What happened, in order."""
    try:
        text = read_bytes(path).decode("utf-8", errors="replace")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a run") from None
    return events_in(text, str(path))


def events_in(text: str, path: str) -> tuple[TimedEvent, ...]:
    """Words of other versions are passed over; a known one that is malformed is rejected. `path` names the text."""
    found: list[TimedEvent] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            tree = json.loads(line)
        except (json.JSONDecodeError, RecursionError):  # empty, or cut off
            continue
        except ValueError:
            raise StoreError(f"{path}: line {number}: holds a number of thousands of digits", AGAIN) from None
        if not isinstance(tree, dict) or not isinstance(tree.get("event"), str):
            continue
        try:
            kind = KEPT.get(tree["event"])
            if kind is not None:
                found.append(TimedEvent(from_tree(float | None, tree.get("time"), "time"), from_tree(kind, tree)))
        except (KeyError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
            raise StoreError(f"{path}: line {number}: {error}", AGAIN) from None
    return tuple(found)
