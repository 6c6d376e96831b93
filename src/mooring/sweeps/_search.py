"""Search for settings: trials are scored by their validation accuracy, never on test images."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from mooring.config import Choice, Plan, Point, Search
from mooring.errors import ConfigError, StoreError
from mooring.record import as_record, read_json, write_json

TRIALS = "trials.json"
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
    sampler, tried = SAMPLERS[search.kind](search), plan.trials[:0]
    while len(tried) < search.trials:
        proposed = sampler.propose(min(AT_ONCE[search.kind], search.trials - len(tried)))
        tried = (*tried, *proposed)
        plan = replace(plan, trials=tried)
        write_json(out / TRIALS, list(tried))
        run_members(plan)
        sampler.learn([score(plan, trial) for trial in proposed])
    return plan


def read_trials(out: Path, search: Search | None) -> Trials:
    """What was proposed so far; raises an error if this search could not have proposed it."""
    path = out / TRIALS
    if search is None or not path.exists():
        return ()
    trials = as_record(tuple[Point, ...], read_json(path, ANEW), path, ANEW)
    if len(trials) > search.trials or not all(search.holds(trial) for trial in trials):
        raise StoreError(f"{path}: holds trials of another search", ANEW)
    return trials
