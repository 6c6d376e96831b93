"""The run folder: the only code that writes results. Atomic, locked while in use, nothing pickled.

experiment.yaml    the full configuration        events.jsonl    what happened, in order, append only
environment.json   versions and machine          uploads/        one safetensors file per client and round
result.json        the answer, strict JSON       fusions/        other fusions of the same uploads
                                                 state/          what an interrupted run goes on from
                                                 imported.log    the log that an imported run was made of
                                                 error.txt       the traceback of a mistake in the user's own code
"""

from mooring.store.error_file import ERROR, user_errors_kept
from mooring.store.files import strict_json, write_atomically
from mooring.store.folder import RunStore, discard_states, in_use, locked, opened, still_there
from mooring.store.imported import LOG, Imported, write_imported
from mooring.store.reading import FORMAT, finished, read_events, read_result
from mooring.store.uploads import encode, found_uploads, metadata, read_upload

__all__ = [
    "ERROR",
    "FORMAT",
    "LOG",
    "Imported",
    "RunStore",
    "discard_states",
    "encode",
    "finished",
    "found_uploads",
    "in_use",
    "locked",
    "metadata",
    "opened",
    "read_events",
    "read_result",
    "read_upload",
    "still_there",
    "strict_json",
    "user_errors_kept",
    "write_atomically",
    "write_imported",
]
