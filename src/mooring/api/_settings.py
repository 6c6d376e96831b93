"""Python values as the tree that a configuration file would hold."""

import sys
from collections.abc import Mapping
from dataclasses import is_dataclass
from os import PathLike, fspath
from typing import Any, TypedDict

import numpy as np
from torch import nn

from mooring.config import read_settings
from mooring.data import Chooser, InMemory, Partitioner, Source, as_source
from mooring.errors import ConfigError, ModelError
from mooring.methods import Method
from mooring.models import FIVE_LINES, backbone_of, is_factory
from mooring.schema import Tree, kind_of, to_tree


class Settings(TypedDict, total=False):
    """What `mooring.run` and `mooring.sweep` take by keyword, beside every key of a configuration file."""

    data: Any
    test: Any
    root: str | PathLike[str] | None
    limit: int | None
    clients: int | Chooser | None
    groups: Chooser | None
    alpha: float | None
    partition: str | Partitioner | Mapping[str, Any] | None
    model: Any
    rounds: int | None
    local_epochs: int | None
    batch_size: int | None
    lr: float | None
    workers: int | None
    device: str | None
    fusion: Any
    weight: Any
    align: Any
    encoder: Any
    training: Mapping[str, Any]
    engine: Any
    evaluate: Mapping[str, Any]
    overrides: Mapping[str, Any] | None


def experiment_tree(method: str | Method | None, given: Mapping[str, Any]) -> tuple[Tree, InMemory | None]:
    """The tree of an experiment, and the source of images that are in memory, which must live as long as it is used."""
    settings = {key: value for key, value in given.items() if value is not None and key != "overrides"}
    held = take_data(settings)
    if method is not None:
        settings = {"method": method} | settings
    more = given.get("overrides") or {}
    twice = [key for key in more if key in settings]
    if twice:
        raise ConfigError(f"{key}: is given twice, as a keyword and in overrides; keep one of them" for key in twice)
    return read_settings({key: plain_value(key, value) for key, value in {**settings, **more}.items()}), held


def take_data(settings: dict[str, Any]) -> InMemory | None:
    """Replace data in memory by the source that holds it, and clients that are given one by one by their partition."""
    data, clients = settings.get("data"), settings.get("clients")
    parts = {key: settings.pop(key) for key in ("test", "groups") if key in settings}
    counted = clients is None or isinstance(clients, int | np.integer)
    if data is None or (isinstance(data, str | Source | Mapping) and not is_mapping_of_parts(data)):
        wrong = [*parts, *([] if counted else ["clients"])]
        if wrong:
            raise ConfigError(f"{key}: needs data in memory; give data=(images, labels) or a data set" for key in wrong)
        return data if isinstance(data, InMemory) else None
    held = as_source(data, clients=None if counted else settings.pop("clients"), **parts)
    settings["data"] = held
    if not counted:
        settings.setdefault("partition", "sites")
    return held


def is_mapping_of_parts(data: Any) -> bool:
    """Is it a mapping with training images, such as a `DatasetDict`, and not one of settings?"""
    return isinstance(data, Mapping) and "train" in data


def plain_value(key: str, value: Any) -> Any:
    """A value as YAML would hold it: parts as trees, classes and functions by the name they are imported by."""
    if isinstance(value, nn.Module):
        raise ModelError(
            f"{key}: is a {type(value).__name__} that exists already; every client builds its own", FIVE_LINES
        )
    if key == "model" and is_factory(value):
        value = backbone_of(value)
    elif callable(value) and not isinstance(value, type) and not is_dataclass(value):
        raise ConfigError([f"{key}: is a function; give a value, or a class by its name module:Class"])
    if isinstance(value, type):
        return importable(key, value)
    if is_dataclass(value):
        importable(key, type(value))
        return to_tree(value)
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): plain_value(f"{key}.{name}", part) for name, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain_value(key, part) for part in value]
    return value


def importable(key: str, cls: type) -> str:
    """The name of a part; an error if a later program could not find it by that name."""
    kind = kind_of(cls)
    name = kind.get("kind") or kind.get("source") or cls.__name__
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    wanted = getattr(cls, "factory", cls)  # of a plain module: what the user wrote
    if ":" in name and found is not wanted:
        raise ConfigError([f"{key}: {cls.__qualname__} is not at the top of {cls.__module__}; write it there"])
    return str(name)
