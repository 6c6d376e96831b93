"""Example experiments: complete files in the package, to write out and change."""

from pathlib import Path

from mooring.errors import ConfigError, nearest

HERE = Path(__file__).parent


def examples() -> dict[str, Path]:
    """The files by name, from the package or from the repository."""
    for folder in (HERE / "files", HERE.parents[2] / "configs"):
        found = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
        if found:
            return found
    return {}


def example(name: str) -> str:
    """The text of one of them."""
    found = examples()
    if name not in found:
        raise ConfigError([f"config {name}: unknown example; {nearest(name, found)}"])
    return found[name].read_text("utf-8")


def example_summary(text: str) -> str:
    """What its first line says of it."""
    return text.partition("\n")[0].removeprefix("# ")
