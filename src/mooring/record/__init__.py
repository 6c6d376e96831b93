"""Typed results and events, and the run folder: the only room that writes and reads them.

experiment.yaml    the full configuration        events.jsonl    what happened, in order, append only
environment.json   versions and machine          uploads/        one file per client and round
result.json        the answer, strict JSON       fusions/        other fusions of the same uploads
model.mooring      the predictor, to be used     state/          what an interrupted run goes on from
encoder.safetensors  what the server sent        imported.log    the log that an imported run was made of
                                                 error.txt       the traceback of a mistake in the user's own code
"""

from mooring.record._events import TimedEvent, event_line, events_in, events_text
from mooring.record._json import as_tree, strict_json
from mooring.record._uploads import write_upload
from mooring.record.files import (
    as_record,
    in_use,
    locked,
    read_json,
    still_there,
    unsealed,
    write_atomically,
    write_json,
    write_record,
)
from mooring.record.folder import ENCODER, LOG, MODEL, RunFolder, StoredUploads, read_fusion, write_result
from mooring.record.imported import Imported, write_imported
from mooring.record.metrics import (
    METRICS,
    SECONDARY,
    Metric,
    Metrics,
    PositiveClass,
    positive_class,
    positive_label,
    values_of,
)
from mooring.record.result import (
    FORMAT,
    Absence,
    Environment,
    FusionRecord,
    ImportedResult,
    LoggedClient,
    NotFinite,
    Origin,
    Result,
    RoundRecord,
    RunResult,
    Seeds,
    SiteRecord,
    TimeSpent,
    UploadRecord,
)
from mooring.record.run import FINISHED, ClientHistory, RunRecord, fused_result, run_record, with_result
from mooring.record.states import StateFacts, StateFolder, discard_states
from mooring.record.sweep import SWEEP, SweepMember, SweepRecord, read_sweep, write_sweep
from mooring.record.verify import Verified, verify
from mooring.record.writer import ERROR, RunWriter, environment, open_run_folder, user_errors_kept

__all__ = [
    "ENCODER",
    "ERROR",
    "FINISHED",
    "FORMAT",
    "LOG",
    "METRICS",
    "MODEL",
    "SECONDARY",
    "SWEEP",
    "Absence",
    "ClientHistory",
    "Environment",
    "FusionRecord",
    "Imported",
    "ImportedResult",
    "LoggedClient",
    "Metric",
    "Metrics",
    "NotFinite",
    "Origin",
    "PositiveClass",
    "Result",
    "RoundRecord",
    "RunFolder",
    "RunRecord",
    "RunResult",
    "RunWriter",
    "Seeds",
    "SiteRecord",
    "StateFacts",
    "StateFolder",
    "StoredUploads",
    "SweepMember",
    "SweepRecord",
    "TimeSpent",
    "TimedEvent",
    "UploadRecord",
    "Verified",
    "as_record",
    "as_tree",
    "discard_states",
    "environment",
    "event_line",
    "events_in",
    "events_text",
    "fused_result",
    "in_use",
    "locked",
    "open_run_folder",
    "positive_class",
    "positive_label",
    "read_fusion",
    "read_json",
    "read_sweep",
    "run_record",
    "still_there",
    "strict_json",
    "unsealed",
    "user_errors_kept",
    "values_of",
    "verify",
    "with_result",
    "write_atomically",
    "write_imported",
    "write_json",
    "write_record",
    "write_result",
    "write_sweep",
    "write_upload",
]
