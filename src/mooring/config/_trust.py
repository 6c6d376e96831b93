"""Which modules a configuration may import: naming `package.module:NAME` imports it, and importing runs its code."""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from mooring.config._tree import DISCRIMINATORS
from mooring.errors import TrustError
from mooring.schema import Tree, mappings_in
from mooring.user_code import HOUSE

NAMED = re.compile(r"(?<![\w.])([^\W\d][\w.]*):[^\W\d]\w*")


@dataclass(frozen=True)
class Trust:
    """The modules that a configuration may import; None allows all. Mooring's own modules are always allowed."""

    modules: frozenset[str] | None = None

    def require(self, name: str, what: str = "folder") -> None:
        """Refuse `package.module:NAME` if its module is not trusted; `what` names it."""
        module = name.partition(":")[0]
        if self.modules is None or module in self.modules or module.partition(".")[0] == HOUSE:
            return
        raise TrustError(
            f"the {what} names {name}, code that is not part of mooring", f"add --trust-code if you trust this {what}"
        )


ALL_CODE = Trust()  # for what users type, and for files they wrote
HOUSE_CODE = Trust(frozenset())  # for folders, which anybody may have made


def code_named_in(words: Iterable[str]) -> Trust:
    """Trust in the modules that these words of a command line name."""
    return Trust(frozenset(module for word in words for module in NAMED.findall(word)))


def trusted_code_of(tree: Tree) -> Trust:
    """Trust in the modules that the full tree of an experiment names: they were trusted when it was built."""
    named = (part[key] for part in mappings_in(tree) for key in DISCRIMINATORS if isinstance(part.get(key), str))
    return Trust(frozenset(name.partition(":")[0] for name in named if ":" in name))


def named_module(name: str) -> ModuleType:
    """The module of this name. The current folder is searched last, for code that is found nowhere else: a file that
    lies there never stands in for a library. It then stays searched, for what the module and its workers import."""
    here = str(Path.cwd())
    try:
        return import_module(name)
    except ModuleNotFoundError as missing:
        if here in sys.path or not f"{name}.".startswith(f"{missing.name}."):
            raise
    sys.path.append(here)
    try:
        return import_module(name)
    except BaseException:
        sys.path.remove(here)
        raise
