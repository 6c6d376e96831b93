"""Where the encoder lies that a job or a model names by its SHA-256; a path that a job names is never followed."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from mooring.config.tree import read_file
from mooring.errors import FederationError, MooringError
from mooring.models.feature_maps.content import SHA256, content_of, digest_in
from mooring.record import RunFolder
from mooring.trees import Tree
from mooring.uploads.codec import ascii_repr

PATHS = ("path", "root")  # keys that name files
PLAN_AGAIN = "ask the coordinator for a new job file"


def with_encoder_path(tree: Tree, encoder: str | None) -> Tree:
    """The tree with the path of the encoder's file where it has only its SHA-256; a path in a job is never followed."""
    named = sorted(set(paths_in(tree)))
    if not named:
        return tree
    if len(named) > 1 or not named[0].startswith(SHA256):
        raise FederationError(f"it names the file {ascii_repr(named[0])}", PLAN_AGAIN)
    if encoder is None:
        raise FederationError(f"its encoder is a file, {named[0][: len(SHA256) + 16]}...", "name it: --encoder FILE")
    digest = named[0].split(":")[1]
    if sha256(content_of(encoder)).hexdigest() != digest:
        raise FederationError(f"--encoder {encoder}: is not the file of this job", f"its SHA-256 must be {digest}")
    located: Tree = replaced(tree, named[0], str(Path(encoder).absolute()))
    return located


def paths_in(tree: object) -> list[str]:
    """Every file that a tree names, whatever it says it is."""
    if isinstance(tree, dict):
        own = [str(value) for key, value in tree.items() if key in PATHS and value is not None]
        return own + [found for part in tree.values() for found in paths_in(part)]
    return [found for part in tree for found in paths_in(part)] if isinstance(tree, list) else []


def replaced(tree: Any, old: str, new: str) -> Any:
    if isinstance(tree, dict):
        return {key: replaced(part, old, new) for key, part in tree.items()}
    if isinstance(tree, list):
        return [replaced(part, old, new) for part in tree]
    return new if tree == old else tree


def encoder_of_run(model: Path, encoder: str) -> str | None:
    """The file with this content that the run in the model's folder looked through; else one that has changed since.

    None where the model lies in no run, or the file lies there no more: then whoever asks must name it.
    """
    try:
        named = paths_in(read_file(RunFolder(model.parent).experiment_file).get("method"))
    except MooringError:
        return None
    there = [path for path in dict.fromkeys(named) if Path(path).is_file()]
    return next((path for path in there if holds(path, encoder)), next(iter(there), None))


def holds(path: str, encoder: str) -> bool:
    try:
        return sha256(content_of(path)).hexdigest() == digest_in(encoder)
    except MooringError:
        return False
