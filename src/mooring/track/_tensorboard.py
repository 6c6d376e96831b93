"""TensorBoard: one folder of event files per run."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from mooring.errors import StoreError
from mooring.track._dashboard import TrackedRun

SUFFIX = ".mooring"  # of our event files


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
