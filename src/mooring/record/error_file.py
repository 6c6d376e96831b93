"""What went wrong in the user's own code, in full."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mooring.errors import UserCodeError
from mooring.record.files import write_atomically
from mooring.user_code import explaining

ERROR = "error.txt"


@contextmanager
def user_errors_kept(folder: Path) -> Iterator[None]:
    """Within this, an error in the user's code is told in one line, and its traceback is kept in this folder.

    Nothing is written before the folder is there: a run that never began leaves nothing behind.
    """
    try:
        with explaining():
            yield
    except UserCodeError as error:
        if not error.trace or not folder.is_dir():
            raise
        write_atomically(folder / ERROR, error.trace.encode())
        remedy = f"the whole traceback is in '{folder / ERROR}'"
        raise UserCodeError(error.problem, remedy, error.trace) from error
