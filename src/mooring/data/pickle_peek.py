"""How many images a pickled batch has, told from its opcodes: nothing is built, and the pixels are not read."""

import pickletools
from pathlib import Path

from mooring.errors import DataError

WHOLE_NUMBERS = frozenset({"BININT", "BININT1", "BININT2", "INT"})


def count_rows(path: Path, width: int, remedy: str) -> int:
    """N of the array (N, width) in a pickle; a pickled array has its shape ahead of its bytes."""
    rows: int | None = None
    try:
        with path.open("rb") as file:
            for opcode, argument, _ in pickletools.genops(file):
                number = int(argument or 0) if opcode.name in WHOLE_NUMBERS else None
                if number == width and rows is not None:
                    return rows
                rows = number
    except Exception as error:  # rubbish makes the parser raise almost anything
        raise DataError(f"{path} is not a pickle ({type(error).__name__}: {error})"[:500], remedy) from error
    raise DataError(f"{path} holds no array of (N, {width})", remedy)
