"""What becomes of the bank loss when the stage that minimises it alone is over."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

from mooring.study.evidence import Run


@dataclass(frozen=True)
class Switch:
    """Mean change of the bank loss from the last epoch of stage 1 to the epoch after it, over clients and rounds."""

    kind: ClassVar[str] = "switch"
    stage_epochs: int = 1

    def value(self, run: Run) -> float | None:
        losses = {
            (event["client"], event["round"], event["epoch"]): event.get("bank-contrast", event.get("align_loss"))
            for event in run.epochs
        }
        last = self.stage_epochs - 1
        changes = [
            losses[client, round_, last + 1] - loss
            for (client, round_, epoch), loss in losses.items()
            if epoch == last and loss is not None and losses.get((client, round_, last + 1)) is not None
        ]
        return fmean(changes) if changes else None

    def series(self, run: Run) -> dict[int, float]:
        return {}

    def by_client(self, run: Run) -> dict[int, float]:
        return {}

    def __str__(self) -> str:
        return "change of the bank loss at the switch from stage 1 to stage 2"
