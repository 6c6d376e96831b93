"""Where the studies lie: inside the installed package, or beside it in the repository."""

from pathlib import Path

from mooring.errors import ConfigError

HERE = Path(__file__).parent


def plans() -> dict[str, Path]:
    """The files by number."""
    for folder in (HERE / "plans", HERE.parents[2] / "studies"):
        found = {file.name.partition("-")[0]: file for file in sorted(folder.glob("[0-9]*-*.yaml"))}
        if found:
            return found
    return {}


def plan(number: str) -> Path:
    found = plans()
    if number not in found:
        valid = ", ".join(found) or "none is installed"
        raise ConfigError([f"study {number}: there is none of that number; valid: {valid}"])
    return found[number]
