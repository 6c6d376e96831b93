"""A run folder: how its files and uploads are read, and whether they are still as they were written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar, overload

from mooring.errors import StoreError
from mooring.record._client_files import found_uploads, read_upload, upload_path
from mooring.record._events import EVENTS, TimedEvent, read_events
from mooring.record._files import (
    CHANGED,
    as_record,
    check_seal,
    file_sha256,
    is_draft,
    read_json,
    reject_links,
    sealed,
    write_json,
)
from mooring.record._judgement import JUDGEMENT, RunJudgement
from mooring.record._result import FORMAT, Environment, FusionRecord, ImportedResult, Result, RunResult, UploadRecord
from mooring.record._run import RunRecord, run_record
from mooring.schema import from_tree
from mooring.types import Upload

EXPERIMENT, RESULT, ENVIRONMENT = "experiment.yaml", "result.json", "environment.json"
LOG_FILE = "imported.log"
MODEL_FILE = "model.mooring"
ENCODER_FILE = "encoder.safetensors"
KNOWN = (EXPERIMENT, ENVIRONMENT, EVENTS, LOG_FILE, MODEL_FILE, ENCODER_FILE)  # files whose hashes the result keeps
AGAIN = "repeat the run with --again"
SMALL = 2**25  # bytes of uploads that may stay in memory: little beside what torch itself takes


@dataclass(frozen=True)
class RunFolder:
    """A folder that a run was written to, or is being written to.

    >>> from pathlib import Path
    >>> from mooring import RunFolder
    >>> folder = RunFolder(Path("runs/v12"))
    >>> folder.ended, folder.result.method
    (True, 'v12')
    """

    path: Path

    @property
    def begun(self) -> bool:
        return (self.path / EVENTS).is_file()

    @property
    def ended(self) -> bool:
        return (self.path / RESULT).exists()

    @property
    def experiment_file(self) -> Path:
        """The configuration, if it is the one that the result was made with."""
        file = self.path / EXPERIMENT
        if not file.exists():
            begun = self.path.is_dir() and any(map(is_draft, self.path.iterdir()))
            remedy = "it was killed before it began; start it again with mooring run" if begun else "name a run folder"
            raise StoreError(f"{self.path}: holds no run", remedy)
        self._unchanged(EXPERIMENT)
        return file

    def _unchanged(self, name: str) -> None:
        """Is a file what it was when the result was written? A run that has not ended has no result to ask."""
        reject_links(self.path, name)
        known = self.result.files.get(name) if self.ended else None
        if known is not None and self._hash(name) != known:
            raise StoreError(f"{self.path / name}: {CHANGED}", AGAIN)

    def _hash(self, name: str) -> str | None:
        try:
            return file_sha256(self.path / name)
        except OSError:
            return None

    @cached_property
    def result(self) -> RunResult:
        """The result, an `ImportedResult` if it was read from a log; raises an error if it is missing or malformed."""
        path = self.path / RESULT
        if not self.ended and (self.path / "state").is_dir():
            way_on = f"if it is not running, resume it with: mooring resume {self.path}"
            raise StoreError(f"{self.path}: has not ended", way_on)
        remedy = "name the folder of a finished run" if not self.ended else AGAIN
        tree = read_json(path, remedy)
        if not isinstance(tree, dict) or tree.get("format") != FORMAT:
            written = tree.get("format", "unknown") if isinstance(tree, dict) else "unknown"
            raise StoreError(f"{path}: has format {written}, this version reads {FORMAT}", AGAIN)
        result = check_seal(result_type(tree), tree, path, AGAIN)
        counted = {len(round_.metrics.confusion) for round_ in result.rounds} - {0}
        if isinstance(result, Result) and counted - {len(result.classes)}:
            raise StoreError(f"{path}: names {len(result.classes)} classes and counts {max(counted)}", AGAIN)
        return result

    @property
    def own_result(self) -> Result:
        """The result of a run that was made here; an imported one is an error."""
        result = self.result
        if isinstance(result, Result):
            return result
        log = result.origin.log if result.origin else "a log"
        raise StoreError(f"{self.path}: was imported from {log}, not run here", "name a run that was made here")

    @cached_property
    def events(self) -> tuple[TimedEvent, ...]:
        self._unchanged(EVENTS)
        return read_events(self.path / EVENTS)

    @cached_property
    def environment(self) -> Environment | None:
        path = self.path / ENVIRONMENT
        self._unchanged(ENVIRONMENT)
        return as_record(Environment, read_json(path, AGAIN), path, AGAIN) if path.exists() else None

    @cached_property
    def fusions(self) -> tuple[FusionRecord, ...]:
        """What other rules made of the uploads."""
        return tuple(read_fusion(path) for path in sorted((self.path / "fusions").glob("*.json")))

    @cached_property
    def judgement(self) -> RunJudgement | None:
        """What `mooring run FOLDER` found out about the sites; None for any other run."""
        path = self.path / JUDGEMENT
        return check_seal(RunJudgement, read_json(path, AGAIN), path, AGAIN) if path.exists() else None

    @cached_property
    def record(self) -> RunRecord:
        """Events and result, put together by client."""
        return run_record(self.path.name, self.events, self.result if self.ended else None, self.path)

    def finished(self, fingerprint: str) -> Result | None:
        """The result if it is the complete result of this very experiment."""
        try:
            if not self.ended:
                return None
        except OSError as error:
            raise StoreError(
                f"out={self.path}: cannot be read ({error.strerror})", "choose another folder with out=..."
            ) from None
        self.reject_imported()
        result = self.own_result
        if result.fingerprint != fingerprint:
            raise StoreError(
                f"out={self.path}: holds the result of another experiment ({result.method}, "
                f"fingerprint {result.fingerprint[:8]})",
                "choose another folder with out=..., or repeat with --again to replace it",
            )
        return result if result.complete else None

    def reject_imported(self) -> None:
        """An imported run cannot be continued: its log does not tell the whole experiment."""
        if self.ended and self.result.origin is not None:
            raise StoreError(
                f"out={self.path}: was imported from {self.result.origin.log}, not run here",
                "choose another folder with out=...",
            )

    def upload(self, record: UploadRecord) -> Upload:
        return read_upload(self.path, record)

    def upload_file(self, record: UploadRecord) -> Path:
        return upload_path(self.path, record.client, record.round)

    def uploads_on_disk(self) -> Iterator[UploadRecord]:
        return found_uploads(self.path)


@dataclass(frozen=True)
class StoredUploads(Sequence[Upload]):
    """Uploads of a run that stay on disk: each is read, and checked against its hash, when it is asked for.

    Where all of them together are small, what was read once is kept: they are asked for when they are admitted, fused
    and evaluated alone.
    """

    folder: RunFolder
    records: tuple[UploadRecord, ...]
    kept: dict[UploadRecord, Upload] = field(default_factory=dict, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.records)

    @overload
    def __getitem__(self, index: int) -> Upload: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Upload]: ...
    def __getitem__(self, index: int | slice) -> Upload | Sequence[Upload]:
        if isinstance(index, slice):
            return replace(self, records=self.records[index])
        record = self.records[index]
        if record in self.kept:
            return self.kept[record]
        upload = self.folder.upload(record)
        if self.small:
            self.kept[record] = upload
        return upload

    @cached_property
    def small(self) -> bool:
        return sum(record.bytes for record in self.records) <= SMALL


def result_type(tree: dict[str, object]) -> type[RunResult]:
    return Result if tree.get("origin") is None else ImportedResult


ResultT = TypeVar("ResultT", bound=RunResult)


def write_result(folder: Path, result: ResultT) -> ResultT:
    """Write the result with its hash and the hashes of the other files; return it as a reader finds it."""
    there = [name for name in KNOWN if (folder / name).exists()]
    files = {name: file_sha256(folder / name) for name in there}
    tree = sealed(replace(result, files=files))
    written: ResultT = from_tree(type(result), tree)
    write_json(folder / RESULT, tree, folder)
    return written


def read_fusion(path: Path) -> FusionRecord:
    """One file of `fusions/` or of a sweep's `fused/`."""
    remedy = "remove the file and fuse again"
    return check_seal(FusionRecord, read_json(path, remedy), path, remedy)


FileState = Literal["as written", "changed", "missing"]


@dataclass(frozen=True)
class VerifiedFile:
    """One file, and whether its content is still what was written."""

    file: str
    state: FileState


def verify(folder: RunFolder) -> tuple[VerifiedFile, ...]:
    """Every file that belongs to the run. Raises an error if there is no result to compare them with."""
    return tuple(_checks(folder))


def _checks(folder: RunFolder) -> Iterator[VerifiedFile]:
    try:
        result = folder.result
    except StoreError as error:
        if not folder.ended:
            raise
        yield VerifiedFile(f"{RESULT} ({error.problem})", "changed")
        return
    yield VerifiedFile(RESULT, "as written")
    for name, known in result.files.items():
        yield VerifiedFile(name, _compared(folder.path / name, known))
    for upload in result.uploads:
        path = folder.upload_file(upload)
        yield VerifiedFile(str(path.relative_to(folder.path)), _compared(path, upload.sha256))
    for path in sorted((folder.path / "fusions").glob("*.json")):
        yield VerifiedFile(str(path.relative_to(folder.path)), _sealed(path))


def _compared(path: Path, known: str) -> FileState:
    try:
        return "as written" if file_sha256(path) == known else "changed"
    except OSError:
        return "missing"
    except StoreError:  # a link, a pipe or a device
        return "changed"


def _sealed(path: Path) -> FileState:
    try:
        read_fusion(path)
    except StoreError:
        return "changed"
    return "as written"
