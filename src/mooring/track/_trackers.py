"""TensorBoard: one folder of event files per run. MLflow: one SQLite file for all runs."""

import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from mooring.errors import StoreError
from mooring.track._dashboard import TrackedRun

SUFFIX = ".mooring"  # of event files for TensorBoard
EXPERIMENT = "mooring"  # in MLflow
IDENTITY = "mooring.identity"
METRICS, PARAMETERS = 1000, 100  # the most that MLflow accepts at once
HEADER = b"SQLite format 3\0"

T = TypeVar("T")


@dataclass(frozen=True)
class TensorBoard:
    """`<out>/<run>/`; look at it with `tensorboard --logdir <out>`."""

    out: Path
    usual: ClassVar[str] = "tensorboard"

    def write(self, run: TrackedRun) -> None:
        """The run's event file is written anew: TensorBoard would show repeated values twice."""
        try:
            from torch.utils.tensorboard import SummaryWriter
            from torch.utils.tensorboard.summary import hparams
        except ImportError:
            raise StoreError("--to tensorboard: needs its package", "pip install 'mooring[track]'") from None
        folder = self.out / run.name
        final = {f"final/{name}": value for name, value in (run.final or {}).items()}
        last, ended = run.end
        try:
            earlier = list(folder.glob(f"events.out.tfevents.*{SUFFIX}"))
            with SummaryWriter(str(folder), filename_suffix=SUFFIX) as writer:
                for summary in hparams(run.settings, final):
                    writer.file_writer.add_summary(summary)
                for point in run.points:
                    writer.add_scalar(point.name, point.value, point.round, walltime=point.time)
                for name, value in final.items():
                    writer.add_scalar(name, value, last, walltime=ended)
            for path in earlier:
                path.unlink()
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written ({error.strerror})", "choose another --out") from None


@dataclass(frozen=True)
class Mlflow:
    """A database file; look at it with `mlflow ui --backend-store-uri sqlite:///<out>`."""

    out: Path
    usual: ClassVar[str] = "mlflow.db"

    def write(self, run: TrackedRun) -> None:
        """A run is recognised by its identity; MLflow stores a repeated value only once."""
        client = self.client()
        from mlflow.entities import Metric, Param

        number = found_or_made(client, run)
        points = [Metric(p.name, p.value, millis(p.time), p.round) for p in run.points]
        last, ended = run.end
        final = run.final or {}
        points += [Metric(f"final/{name}", value, millis(ended), last) for name, value in final.items()]
        for metrics in metric_batches(points, METRICS):
            client.log_batch(number, metrics=metrics)
        for settings in metric_batches([Param(key, str(value)) for key, value in run.settings.items()], PARAMETERS):
            client.log_batch(number, params=settings)
        for name, fact in run.facts.items():
            client.set_tag(number, f"mooring.{name}", fact)
        if run.final is not None:
            client.set_terminated(number, "FINISHED", end_time=millis(ended))

    def client(self) -> Any:
        check_file(self.out)
        os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")  # no usage data is sent
        try:
            import alembic  # noqa: F401
            import sqlalchemy  # noqa: F401
            from mlflow import MlflowClient
        except ImportError:
            raise StoreError(
                "--to mlflow: needs the packages mlflow-skinny, sqlalchemy and alembic", "pip install 'mooring[track]'"
            ) from None
        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return MlflowClient(f"sqlite:///{self.out.absolute()}")


def found_or_made(client: Any, run: TrackedRun) -> str:
    """The id of this run."""
    experiment = client.get_experiment_by_name(EXPERIMENT)
    where = client.create_experiment(EXPERIMENT) if experiment is None else experiment.experiment_id
    known = client.search_runs([where], f"tags.`{IDENTITY}` = '{run.identity}'")
    if known:
        return str(known[0].info.run_id)
    began = min((point.time for point in run.points), default=0.0)
    tags = {IDENTITY: run.identity}
    return str(client.create_run(where, millis(began), tags, run.name).info.run_id)


def check_file(path: Path) -> None:
    """Reject a file that is not a database; MLflow would try to open it for minutes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            file.seek(0)
            head = file.read(len(HEADER))
    except OSError as error:
        raise StoreError(f"{path}: cannot be written ({error.strerror})", "choose another --out") from None
    if head not in (b"", HEADER):
        raise StoreError(f"{path}: is no SQLite file", "choose another --out")


def metric_batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def millis(seconds: float) -> int:
    return int(seconds * 1000)
