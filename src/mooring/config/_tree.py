"""Configuration as plain trees: reading and writing YAML, dotted overrides, and merging.

YAML is read within bounds, so that no file takes more than a moment or a little memory. Aliases and tags are rejected:
an experiment needs neither, and with them a file of 1 kB can expand to gigabytes.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from mooring.errors import ConfigError
from mooring.schema import INHERITED_KEYS, Tree

LARGEST_FILE = 2**18  # bytes; an experiment has about 2**12
MOST_VALUES = 10_000  # of one file, keys included: half a second of parsing
DEEPEST = 40  # mappings and lists within each other
LONGEST_WHOLE, LONGEST_NUMBER = 20, 100  # digits: 2**64 has 20
PLAIN_TAGS = ("bool", "float", "int", "null")  # what is recognised without quotes, beside text
DISCRIMINATORS = ("kind", "source", "name")


class BeyondBoundsError(yaml.YAMLError):
    """Valid YAML that is not read here: what is wrong, in which line, and the remedy."""

    def __init__(self, problem: str, remedy: str, mark: object = None) -> None:
        super().__init__(problem)
        self.problem, self.remedy, self.problem_mark = problem, remedy, mark


class BoundedLoader(yaml.SafeLoader):
    """Safe YAML in which 5e-4 is a number, a date is text, and a key given twice is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.values = self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        self.values += 1
        self.depth += 1
        if isinstance(event, yaml.AliasEvent):
            raise BeyondBoundsError(
                f"refers to *{event.anchor}", "aliases are not read; write it out", event.start_mark
            )
        if event.tag not in (None, "!"):
            raise BeyondBoundsError(
                f"has the tag {event.tag}", "tags are not read; write plain values", event.start_mark
            )
        if self.depth > DEEPEST:
            raise BeyondBoundsError(f"nests deeper than {DEEPEST} levels", "write it flatter", event.start_mark)
        if self.values > MOST_VALUES:
            raise BeyondBoundsError(f"holds more than {MOST_VALUES:,} values", "leave some out", event.start_mark)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def _mapping(loader: BoundedLoader, node: yaml.MappingNode) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, True)
        if not isinstance(key, str | int | float | bool):
            raise ConstructorError(None, None, "a key must be a plain word", key_node.start_mark)
        if key in made:
            raise ConstructorError(None, None, f"the key {key!r} is given twice", key_node.start_mark)
        made[key] = loader.construct_object(value_node, True)
    return made


def _number(loader: BoundedLoader, node: yaml.ScalarNode) -> int | float:
    whole = node.tag.endswith(":int")
    longest = LONGEST_WHOLE if whole else LONGEST_NUMBER
    digits = sum(map(str.isalnum, node.value))
    if digits > longest:
        raise BeyondBoundsError(f"has a number of {digits:,} digits", f"at most {longest} are read", node.start_mark)
    read = loader.construct_yaml_int if whole else loader.construct_yaml_float
    try:
        number: int | float = read(node)
    except ValueError:  # such as 0x_
        raise ConstructorError(None, None, f"{node.value!r} is not a number", node.start_mark) from None
    return number


def _text(loader: BoundedLoader, node: yaml.ScalarNode) -> str:
    """Reject characters that no file name and no text file can contain."""
    if "\0" in node.value or re.search("[\ud800-\udfff]", node.value):
        raise ConstructorError(None, None, "a character that is not text", node.start_mark)
    return str(node.value)


BoundedLoader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in known if tag.rpartition(":")[2] in PLAIN_TAGS]
    for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
BoundedLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
BoundedLoader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG, _text)
BoundedLoader.add_constructor("tag:yaml.org,2002:int", _number)
BoundedLoader.add_constructor("tag:yaml.org,2002:float", _number)


class BoundedDumper(yaml.SafeDumper):
    """Writes out what stands in two places twice, because aliases are not read."""

    def ignore_aliases(self, data: object) -> bool:
        return True


for _either in (BoundedLoader, BoundedDumper):  # the text 5e-4 is written with quotes
    _either.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"),
        list("-+.0123456789"),
    )


def parse_bounded(text: str) -> Any:
    """The value of a YAML text; raises `yaml.YAMLError` if it is not valid."""
    if len(text) > LARGEST_FILE:
        raise BeyondBoundsError(f"has {len(text):,} characters", f"at most {LARGEST_FILE:,} are read")
    return yaml.load(text, BoundedLoader)


def line_numbers(text: str) -> Iterator[tuple[str, int]]:
    """(`a.b.c`, the line in which c stands) for every key of a mapping"""
    yield from _below(BoundedLoader(text).get_single_node(), "")


def _below(node: yaml.Node | None, path: str) -> Iterator[tuple[str, int]]:
    if not isinstance(node, yaml.MappingNode):
        return
    for key, value in node.value:
        name = f"{path}.{key.value}" if path else str(key.value)
        yield name, key.start_mark.line + 1
        yield from _below(value, name)


def as_yaml(tree: Any) -> str:
    """A tree as people read it."""
    return yaml.dump(tree, Dumper=BoundedDumper, sort_keys=False, allow_unicode=True, width=120)


def read_yaml(text: str, origin: str) -> Any:
    """The value of a YAML text; `origin` names it in errors."""
    try:
        return parse_bounded(text)
    except yaml.YAMLError as error:
        where = getattr(error, "problem_mark", None)
        line = f" in line {where.line + 1}" if where else ""
        problem = getattr(error, "problem", None) or str(error).splitlines()[0]
        if isinstance(error, BeyondBoundsError):
            raise ConfigError([f"{origin}: {problem}{line}; {error.remedy}"]) from None
        raise ConfigError(
            [f"{origin}: not valid YAML{line} ({problem}); check quotes, colons and indentation"]
        ) from None


def read_file(path: Path) -> Tree:
    """A configuration file: one mapping."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
        if len(data) > LARGEST_FILE:
            limit = f"an experiment or a sweep has at most {LARGEST_FILE:,} bytes"
            raise ConfigError([f"{path}: is too large; {limit}, name a smaller file"])
        text = data.decode("utf-8")
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read ({error.strerror}); name an existing YAML file"]) from None
    except UnicodeDecodeError:
        raise ConfigError([f"{path}: is not text; name a YAML file"]) from None
    tree = read_yaml(text, str(path))
    if tree is None:
        raise ConfigError([f"{path}: is empty; write at least one key, for example method: v7"])
    if not isinstance(tree, dict):
        raise ConfigError([f"{path}: holds a {type(tree).__name__}; an experiment is a mapping of keys"])
    return tree


def nested_tree(path: Sequence[str], value: Any) -> Tree:
    """(a, b), 1 -> {a: {b: 1}}"""
    for part in reversed(path):
        value = {part: value}
    return {**value}


def merge_trees(under: Any, over: Any) -> Any:
    """`over` on top of `under`. A name stands for the mapping it begins: `v7` over `{...}` and `{...}` over `v7`."""
    if isinstance(under, dict) and isinstance(over, str):
        over = {"name": over}
    if isinstance(under, str) and isinstance(over, dict):
        under = {"name": under}
    if not (isinstance(under, dict) and isinstance(over, dict)):
        return over
    if discriminator_of(over) not in (None, discriminator_of(under)) and discriminator_of(under) is not None:
        old = {key: value for key, value in under.items() if key not in (*DISCRIMINATORS, INHERITED_KEYS)}
        return {**over, INHERITED_KEYS: under.get(INHERITED_KEYS, {}) | old}
    merged = dict(under)
    for key, value in over.items():
        merged[key] = merge_trees(merged[key], value) if key in merged else value
    return merged


def discriminator_of(tree: Tree) -> Any:
    """What a mapping says it is, if it says so."""
    return next((tree[key] for key in DISCRIMINATORS if key in tree), None)
