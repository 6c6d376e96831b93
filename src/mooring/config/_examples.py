"""Experiments to start from: whole files, packaged, to be written out and changed."""

from pathlib import Path

from mooring.errors import ConfigError, nearest

HERE = Path(__file__).parent


def examples() -> dict[str, Path]:
    """The files by name: those of the package, or those of the repository that it runs from."""
    for folder in (HERE / "files", HERE.parents[2] / "configs"):
        found = {file.stem: file for file in sorted(folder.glob("*.yaml"))}
        if found:
            return found
    return {}


def example(name: str) -> str:
    """The text of one of them."""
    found = examples()
    if name not in found:
        raise ConfigError([f"config {name}: there is none of that name; {nearest(name, found)}"])
    return found[name].read_text("utf-8")


def example_summary(text: str) -> str:
    """What its first line says of it."""
    return text.partition("\n")[0].removeprefix("# ")
