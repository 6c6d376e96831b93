"""TensorBoard: one folder of event files per run. MLflow: one SQLite file for all runs."""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from mooring.errors import StoreError
from mooring.record import RunRecord
from mooring.track._dashboard import MetricPoint, PlainSettings, final_metrics, identity, metric_points, run_facts

SUFFIX = ".mooring"  # of event files for TensorBoard
EXPERIMENT = "mooring"  # in MLflow
IDENTITY = "mooring.identity"
METRICS, PARAMETERS = 1000, 100  # the most that MLflow accepts at once
HEADER = b"SQLite format 3\0"


@dataclass(frozen=True)
class TensorBoard:
    """`<out>/<run>/`; shown by `tensorboard --logdir <out>`."""

    out: Path
    usual: ClassVar[str] = "tensorboard"

    def require(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter  # noqa: F401
        except ImportError:
            raise StoreError("tensorboard: is not installed", "pip install 'mooring[track]'") from None

    def write(self, run: RunRecord, settings: PlainSettings) -> None:
        """The run's event file is written anew: TensorBoard would show repeated values twice."""
        self.require()
        from torch.utils.tensorboard import SummaryWriter
        from torch.utils.tensorboard.summary import hparams

        folder = self.out / run.name
        points, final = metric_points(run), final_metrics(run)
        last, ended = end_of(points)
        try:
            earlier = list(folder.glob(f"events.out.tfevents.*{SUFFIX}"))
            with SummaryWriter(str(folder), filename_suffix=SUFFIX) as writer:
                for summary in hparams(dict(settings), final):
                    writer.file_writer.add_summary(summary)
                for point in points:
                    writer.add_scalar(point.name, point.value, point.round, walltime=point.time)
                for name, value in final.items():
                    writer.add_scalar(name, value, last, walltime=ended)
            for path in earlier:
                path.unlink()
        except OSError as error:
            raise StoreError(f"{folder}: cannot be written ({error.strerror})", "choose another --out") from None


@dataclass(frozen=True)
class Mlflow:
    """A database file; shown by `mlflow ui --backend-store-uri sqlite:///<out>`."""

    out: Path
    usual: ClassVar[str] = "mlflow.db"

    def require(self) -> None:
        self.client()

    def write(self, run: RunRecord, settings: PlainSettings) -> None:
        """A run is recognised by its identity; MLflow stores a repeated value only once."""
        client = self.client()
        from mlflow.entities import Metric, Param

        points = metric_points(run)
        last, ended = end_of(points)
        number = found_or_made(client, run, points)
        metrics = [Metric(point.name, point.value, millis(point.time), point.round) for point in points]
        metrics += [Metric(name, value, millis(ended), last) for name, value in final_metrics(run).items()]
        for start in range(0, len(metrics), METRICS):
            client.log_batch(number, metrics=metrics[start : start + METRICS])
        parameters = [Param(key, str(value)) for key, value in settings.items()]
        for start in range(0, len(parameters), PARAMETERS):
            client.log_batch(number, params=parameters[start : start + PARAMETERS])
        for name, fact in run_facts(run).items():
            client.set_tag(number, f"mooring.{name}", fact)
        if run.result is not None:
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
                "mlflow: needs the packages mlflow-skinny, sqlalchemy and alembic", "pip install 'mooring[track]'"
            ) from None
        for name in ("mlflow", "alembic"):
            logging.getLogger(name).setLevel(logging.WARNING)
        return MlflowClient(f"sqlite:///{self.out.absolute()}")


def found_or_made(client: Any, run: RunRecord, points: list[MetricPoint]) -> str:
    """The id of this run in MLflow."""
    experiment = client.get_experiment_by_name(EXPERIMENT)
    where = client.create_experiment(EXPERIMENT) if experiment is None else experiment.experiment_id
    known = client.search_runs([where], f"tags.`{IDENTITY}` = '{identity(run)}'")
    if known:
        return str(known[0].info.run_id)
    began = min((point.time for point in points), default=0.0)
    tags = {IDENTITY: identity(run)}
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
        raise StoreError(f"{path}: is not an SQLite file", "choose another --out")


def end_of(points: list[MetricPoint]) -> tuple[int, float]:
    """The last round, and when it was known."""
    return max(((point.round, point.time) for point in points), default=(0, 0.0))


def millis(seconds: float) -> int:
    return int(seconds * 1000)
