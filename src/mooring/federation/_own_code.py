"""Code of a user's own that a model names: imported only if the user has said to trust it."""

from collections.abc import Iterable, Iterator
from typing import Any

from mooring.config import Trust, import_object
from mooring.errors import ConfigError, ModelError
from mooring.federation._container import Container
from mooring.models import classes_by_kind, is_factory
from mooring.schema import Tree, mappings_in
from mooring.uploads import Limits, header_facts, header_of

LONGEST = 200  # letters of a name that a module and a class in it may have
WHERE = "go to the folder where its file lies, or name that folder in PYTHONPATH"


def own_classes(file: Container, what: str, handed_over: Iterable[type], trust: Trust) -> tuple[type, ...]:
    """The classes that the caller hands over, and those that the model names beside them, if `trust` covers these."""
    handed = tuple(handed_over)
    facts = header_facts(header_of(file.payload, Limits(), what), what)
    others = sorted(set(code_in(facts)) - classes_by_kind(handed).keys())
    for name in others:
        trust.require(name, "model")
    return (*handed, *(class_called(name, what, trust) for name in others))


def class_called(name: str, what: str, trust: Trust) -> Any:
    try:
        found = import_object(name, trust, WHERE)
    except ConfigError as error:
        raise ModelError(f"{what}: {name}: {error.problem}") from None
    if not isinstance(found, type) and not is_factory(found):
        raise ModelError(f"{what}: {name} is not a class", "name the file that the class came from")
    return found


def code_in(facts: Tree) -> Iterator[str]:
    """Every `package.module:Class` that predictor and networks say they are."""
    kinds = (part.get("kind") for part in mappings_in([facts.get("predictor"), facts.get("model")]))
    return (kind for kind in kinds if isinstance(kind, str) and is_code(kind))


def is_code(kind: str) -> bool:
    module, colon, name = kind[: LONGEST + 1].partition(":")
    return bool(colon) and len(kind) <= LONGEST and all(word.isidentifier() for word in f"{module}.{name}".split("."))
