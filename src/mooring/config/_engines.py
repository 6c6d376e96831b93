"""Engines by name. They stand above configuration, as a user's own parts do, and are imported when one is named."""

from collections.abc import Iterator, Mapping

from mooring.client import Engine
from mooring.config._trust import HOUSE_CODE
from mooring.config._user_parts import import_object

PLACES = {"local": "mooring.engines:Local", "flower": "mooring.engines.flower:Flower"}


class Engines(Mapping[str, type[Engine]]):
    """kind -> class"""

    def __getitem__(self, kind: str) -> type[Engine]:
        engine: type[Engine] = import_object(PLACES[kind], HOUSE_CODE)
        return engine

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)


ENGINES = Engines()


def usual_engine() -> Engine:
    """On this machine, as many workers as it has cores."""
    return ENGINES["local"]()
