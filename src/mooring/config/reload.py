"""The experiment of a run folder, opened again."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mooring.config.experiment import Experiment
from mooring.config.keys import full, once, read_overrides
from mooring.config.parse import load
from mooring.config.paths import absolute, with_paths
from mooring.config.tree import read
from mooring.errors import ConfigError


def reload(folder: Path, overrides: Iterable[str] = ()) -> Experiment:
    """The experiment in this folder; `data.root=...` says where its files lie now. All else is as it was trained."""
    (experiment,) = load(folder / "experiment.yaml")
    words = once(overrides)
    read_overrides(words)  # refuses what is no key=value
    lay: dict[str, str | None] = {}  # key -> where the file lay
    with_paths(experiment, lay.setdefault)
    new, problems = {}, []
    for word in words:
        key, _, text = word.partition("=")
        place = read(text, key)
        if full(key) not in lay:
            problems.append(f"{word}: cannot be changed after training; only paths can: {', '.join(lay)}")
        elif not isinstance(place, str) or not place:
            problems.append(f"{word}: must be a path")
        else:
            new[full(key)] = absolute(place)
    if problems:
        raise ConfigError(problems)
    written = {path: experiment.given.get(lay[key] or "", lay[key]) for key, path in new.items()}
    moved = with_paths(experiment, new.get)
    return replace(moved, given=experiment.given | written)
