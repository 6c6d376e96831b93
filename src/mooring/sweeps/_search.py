"""Search for settings: trials are scored by their validation accuracy, never on test images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from mooring.config import Choice, Plan, Point, Search
from mooring.errors import ConfigError, StoreError
from mooring.record import as_record, read_json, write_json

TRIALS, SEEDS = "trials.json", "seeds_of_trials.json"
ANEW = "remove the file, then go on with the sweep: it proposes the same trials again"
Trials = tuple[Point, ...]


class Sampler(Protocol):
    """Proposes trials, a few at a time, given the scores of earlier ones."""

    def propose(self, count: int) -> list[Point]: ...

    def learn(self, scores: Sequence[float | None]) -> None:
        """The scores of the trials proposed last; None for a failed trial."""
        ...


class Drawn:
    """Random search: all trials are drawn before the first one runs."""

    def __init__(self, search: Search) -> None:
        self.left = list(search.drawn())

    def propose(self, count: int) -> list[Point]:
        chosen, self.left = self.left[:count], self.left[count:]
        return chosen

    def learn(self, scores: Sequence[float | None]) -> None:
        pass


class Tpe:
    """Optuna's tree-structured Parzen estimator."""

    def __init__(self, search: Search) -> None:
        try:
            import optuna
        except ImportError:
            raise ConfigError(
                ["search.kind=tpe: needs Optuna; pip install 'mooring[search]', or kind: random"]
            ) from None
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self.study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=search.seed))
        self.search = search
        self.asked: list[Any] = []
        self.failed = optuna.trial.TrialState.FAIL

    def propose(self, count: int) -> list[Point]:
        self.asked = [self.study.ask() for _ in range(count)]
        return [{key: self.suggested(trial, key) for key in self.search.space} for trial in self.asked]

    def suggested(self, trial: Any, key: str) -> Any:
        place = self.search.space[key]
        if isinstance(place, Choice):
            return trial.suggest_categorical(key, list(place.values))
        return trial.suggest_float(key, place.low, place.high, log=place.log)

    def learn(self, scores: Sequence[float | None]) -> None:
        for trial, score in zip(self.asked, scores, strict=True):
            if score is None:
                self.study.tell(trial, state=self.failed)
            else:
                self.study.tell(trial, score)


SAMPLERS: dict[str, Callable[[Search], Sampler]] = {"random": Drawn, "tpe": Tpe}
AT_ONCE = {"random": 10**6, "tpe": 4}  # fixed, so that the number of cores does not change what is tried


def searched(
    plan: Plan, out: Path, run_members: Callable[[Plan], None], score: Callable[[Plan, Point], float | None]
) -> Plan:
    """Try until all trials are done; the plan with every trial in it.

    `run_members` runs a plan, `score` says how good a trial was. Interrupted, the same proposals come again, because
    the sampler's seed is fixed and finished runs are not repeated.
    """
    search = plan.search
    assert search is not None
    sampler, plan = SAMPLERS[search.kind](search), replace(plan, trials=(), seeds_of_trials=())
    while len(plan.trials) < search.trials:
        proposed = sampler.propose(min(AT_ONCE[search.kind], search.trials - len(plan.trials)))
        tried, seeds = (*plan.trials, *proposed), plan.seeds_of_trials
        going_on = list(range(len(plan.trials), len(tried)))  # places of the trials that are not stopped
        reached = dict.fromkeys(going_on, 0)
        for stage in stages(search.pruner, len(plan.seeds)):
            reached |= dict.fromkeys(going_on, stage)
            plan = replace(plan, trials=tried, seeds_of_trials=(*seeds, *reached.values()))
            write_json(out / TRIALS, list(tried))
            if search.pruner != "none":
                write_json(out / SEEDS, list(plan.seeds_of_trials))
            run_members(plan)
            going_on = better_half(going_on, [score(plan, tried[place]) for place in going_on])
        sampler.learn([score(plan, trial) for trial in proposed])
    return plan


def stages(pruner: str, seeds: int) -> Sequence[int]:
    """How many seeds a trial has run after each stage."""
    return range(1, seeds + 1) if pruner == "halving" else (seeds,)


def better_half(places: list[int], scores: Sequence[float | None]) -> list[int]:
    """The places with the higher scores, the earlier one of equal scores; a failed trial is the last."""
    ranked = sorted(zip(places, scores, strict=True), key=lambda pair: (pair[1] is None, -(pair[1] or 0.0)))
    return sorted(place for place, _ in ranked[: -(-len(ranked) // 2)])


def read_seeds(out: Path, trials: Trials) -> tuple[int, ...]:
    """How many seeds each of these trials was given; empty if the search stops none."""
    path = out / SEEDS
    if not path.exists():
        return ()
    found = as_record(tuple[int, ...], read_json(path, ANEW), path, ANEW)
    if len(found) != len(trials) or min(found, default=0) < 0:
        raise StoreError(f"{path}: does not belong to {TRIALS}", ANEW)
    return found


def read_trials(out: Path, search: Search | None) -> Trials:
    """What was proposed so far; raises an error if this search could not have proposed it."""
    path = out / TRIALS
    if search is None or not path.exists():
        return ()
    trials = as_record(tuple[Point, ...], read_json(path, ANEW), path, ANEW)
    if len(trials) > search.trials or not all(search.holds(trial) for trial in trials):
        raise StoreError(f"{path}: holds trials of another search", ANEW)
    return trials
