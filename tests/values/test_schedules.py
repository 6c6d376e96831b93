"""Golden values of note 3: the annealing factors of ten rounds."""

from itertools import pairwise

import pytest

from mooring.schedules import SCHEDULES, at
from mooring.types import Progress

NOTE3_LINEAR = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]
NOTE3_COSINE = [1.0, 0.975, 0.904, 0.793, 0.654, 0.500, 0.345, 0.206, 0.095, 0.024]


@pytest.mark.parametrize(("schedule", "factors"), [("linear", NOTE3_LINEAR), ("cosine", NOTE3_COSINE)])
def test_factors_equal_note_3_which_truncates_them(schedule, factors):
    for r, factor in enumerate(factors):
        held = at(f"{schedule}-by-round", Progress(step=r * 37 + 20, steps=370, round=r, rounds=10))
        assert factor <= held + 1e-9 < factor + 1e-3
        assert at(schedule, Progress(step=r * 37, steps=370)) == pytest.approx(held)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_schedule_starts_at_one_and_never_rises(schedule):
    values = [at(schedule, Progress(step=s, steps=100, round=s // 10, rounds=10)) for s in range(100)]
    assert values[0] == 1.0
    assert all(0 <= later <= earlier for earlier, later in pairwise(values))


@pytest.mark.parametrize("schedule", ["linear", "cosine"])
def test_by_epoch_a_schedule_holds_still_within_an_epoch_and_goes_on_over_rounds(schedule):
    epochs = [Progress(round=r, rounds=5, epoch=e, local_epochs=2) for r in range(5) for e in range(2)]
    held = [at(f"{schedule}-by-epoch", progress) for progress in epochs]
    assert held == pytest.approx([at(schedule, Progress(e, 10)) for e in range(10)])


def test_progress_runs_over_the_whole_training_and_not_per_round():
    assert Progress(step=150, steps=300, epoch=0, local_epochs=1, round=5, rounds=10).overall == 0.5
