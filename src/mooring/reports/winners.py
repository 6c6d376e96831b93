"""Which experiment of a report is best, and is that settled? They compete on the same data and partition."""

import json
from collections.abc import Iterable

from mooring.reports.report_data import ReportData, Run, SeedGroup
from mooring.sweep.best import Best, Entrant, best_of_each

RULE = (
    "Bold only where it is settled: the 95 % interval of the difference to every other experiment on the same data, "
    "paired by seed, excludes 0 (Student's t; where seeds change nothing, Newcombe's over the test images)"
)


def contests(data: ReportData) -> tuple[Best[SeedGroup], ...]:
    """One for every problem that several experiments have met."""
    return best_of_each(
        Entrant(
            group,
            problem(group.first),
            {seed_pair(run): run.result.accuracy for run in group.runs},
            group.first.result.test_images,
        )
        for group in data.lines
    )


def seed_pair(run: Run) -> tuple[int | None, int | None]:
    return run.result.seeds.training, run.result.seeds.split


def problem(run: Run) -> str:
    """What experiments must share to be compared: the sweep of a study, the data, how they are divided."""
    partition = {key: value for key, value in (run.tree.get("partition") or {}).items() if key != "seed"}
    return json.dumps([run.sweep, run.dataset, run.tree.get("data"), partition], sort_keys=True, default=str)


def settled_labels(found: Iterable[Best[SeedGroup]]) -> set[str]:
    """The labels of those that have won."""
    return {one.best.label for one in found if one.settled}
