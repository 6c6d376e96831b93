"""`mooring import`: logs of the published code as run folders, its YAML files as ours."""

from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import AsJson, as_object, print_json, say
from mooring.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from mooring.record import ImportedResult

OUT, METHOD = "out=", "method="
YAML = (".yaml", ".yml")
SHOWN = ("method", "dataset", "accuracy", "clients", "complete")
ORIGIN_KEYS = ("version", "identified", "evidence", "inferred")


def import_(
    arguments: Annotated[
        list[str],
        typer.Argument(
            metavar="LOG... | CONFIG.yaml [method=NAME] [out=...]",
            help="Logs, or one old configuration.",
        ),
    ],
    json: AsJson = False,
) -> None:
    """Turn logs of the published code into run folders for reports.

    Missing values are null. `mooring doctor` examines imported runs; `mooring fuse` needs uploads.
    A YAML file of the published code is rewritten in Mooring's keys, and the mapping of each line is shown. Data sets,
    partitions and networks that Mooring does not have are errors; choose others with key=value.
    """
    outs = [word.removeprefix(OUT) for word in arguments if word.startswith(OUT)]
    methods = [word.removeprefix(METHOD) for word in arguments if word.startswith(METHOD)]
    others = [word for word in arguments if not word.startswith((OUT, METHOD))]
    files = [Path(word) for word in others if "=" not in word or Path(word).exists()]
    instead = dict(word.split("=", 1) for word in others if Path(word) not in files)
    written = [file for file in files if file.suffix.lower() in YAML]
    if not files or len(outs) > 1 or "" in outs or len(methods) > 1:
        raise ConfigError([f"{' '.join(arguments)!r}: must be logs and at most one out=FOLDER"])
    if written and len(files) > 1:
        raise ConfigError([f"{' '.join(arguments)!r}: must be one YAML file, or logs"])
    if (methods or instead) and not written:
        word = f"{METHOD}{methods[0]}" if methods else "=".join(next(iter(instead.items())))
        raise ConfigError([f"{word}: a log has its own settings; a setting belongs to a YAML file"])
    if written:
        import_config(written[0], methods[0] if methods else None, instead, outs[0] if outs else None, json)
    else:
        import_logs(files, outs[0] if outs else None, json)


def import_logs(logs: list[Path], out: str | None, json: bool) -> None:
    from mooring.notes import import_log

    imported: list[tuple[Path, Path, ImportedResult]] = []
    for log in logs:
        place = Path(out, *([log.stem] if len(logs) > 1 else [])) if out else None
        imported += [(folder, log, result) for folder, result in import_log(log, place)]
    if json:
        print_json([as_row(folder, log, result) for folder, log, result in imported])
        return
    for folder, log, result in imported:
        accuracy = "no fused accuracy" if isnan(result.accuracy) else f"accuracy {result.accuracy:.4f}"
        origin = result.origin
        mark = " (inferred)" if origin.identified == "inferred" else ""
        say(f"{log}: {result.method}{mark} on {result.dataset or 'unknown data'}, {accuracy}, {folder}")
        if origin.identified != "read":
            say(f"  because {'; '.join(origin.evidence)}")


def as_row(folder: Path, log: Path, result: "ImportedResult") -> dict[str, object]:
    """What `--json` says of one experiment."""
    origin = as_object(result.origin)
    shown = {key: getattr(result, key) for key in SHOWN}
    return {"folder": str(folder), "log": str(log), **shown, **{key: origin[key] for key in ORIGIN_KEYS}}


def import_config(file: Path, method: str | None, instead: dict[str, str], out: str | None, json: bool) -> None:
    from mooring.notes import translate
    from mooring.record import write_atomically

    translation = translate(file, method, instead)
    place = Path(out) if out else Path(f"{file.stem}.mooring.yaml")
    content = translation.text.encode()
    if place.exists() and (place.is_dir() or place.read_bytes() != content):
        raise StoreError(f"out={place}: is there already and holds something else", "choose another file with out=...")
    write_atomically(place, content)
    if json:
        lines = [as_object(line) for line in translation.lines]
        print_json({"file": str(place), "mapped": translation.mapped, "lines": lines})
        return
    for line in translation.lines:
        say(line.text)
    say(f"{translation.mapped} of {len(translation.lines)} settings mapped: {place}")
