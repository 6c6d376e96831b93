"""Reading JSON that somebody else wrote."""

import json
from pathlib import Path
from typing import Any

from mooring.errors import StoreError


def read_json(path: Path, remedy: str) -> dict[str, Any]:
    """One JSON object; anything else is refused with the remedy."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", remedy) from None
    except ValueError:
        raise StoreError(f"{path}: is not valid JSON", remedy) from None
    if not isinstance(content, dict):
        raise StoreError(f"{path}: holds a {type(content).__name__}, not an object", remedy)
    return content
