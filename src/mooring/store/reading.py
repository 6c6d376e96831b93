"""What a run folder says, to whoever asks."""

import json
from pathlib import Path
from typing import Any

from mooring.errors import StoreError

FORMAT = 1


def finished(folder: Path, fingerprint: str) -> dict[str, Any] | None:
    """The result in this folder if it is the complete result of this very experiment."""
    path = folder / "result.json"
    try:
        if not path.exists():
            return None
    except OSError as error:
        raise StoreError(
            f"out={folder}: cannot be read ({error.strerror})", "choose another folder with out=..."
        ) from None
    result = read_result(folder)
    if result.get("imported"):
        raise StoreError(
            f"out={folder}: was imported from {result.get('log')}, not run here", "choose another folder with out=..."
        )
    if result.get("fingerprint") != fingerprint:
        raise StoreError(
            f"out={folder}: holds the result of another experiment ({result.get('method')}, "
            f"fingerprint {str(result.get('fingerprint'))[:8]})",
            "choose another folder with out=..., or repeat with --again to replace it",
        )
    return result if result.get("complete") else None


def read_result(folder: Path) -> dict[str, Any]:
    path = folder / "result.json"
    try:
        result = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a finished run") from None
    except ValueError:
        raise StoreError(f"{path}: is not valid JSON", "repeat the run with --again") from None
    if not isinstance(result, dict) or result.get("format") != FORMAT:
        raise StoreError(f"{path}: is not a result of this version (format {FORMAT})", "repeat the run with --again")
    return result


def read_events(folder: Path) -> list[dict[str, Any]]:
    """What happened, in order; a line that was cut off by a crash is left out."""
    path = folder / "events.jsonl"
    try:
        lines = path.read_text("utf-8", errors="replace").splitlines()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name the folder of a run") from None
    events = []
    for line in lines:
        try:
            event = json.loads(line)
        except ValueError:  # empty, or cut off
            continue
        if isinstance(event, dict) and "event" in event:
            events.append(event)
    return events
