"""A thousand clients in one run, and a report of a long one: time and memory under load."""

import resource
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from benchmarks.process import apart, cpu_seconds
from benchmarks.table import Say, Table
from mooring import load, report, run_experiment
from mooring.record import RunFolder, write_result

CLIENTS = 1_000
ROUNDS, MANY = 300, 50
SHORT = ("training.rounds=1", "training.local_epochs=1", "partition.kind=iid")


def measure(say: Say) -> Table:
    rows: list[tuple[object, ...]] = []
    for method in ("v7", "fedavg-1", "mooring"):
        (wall, cpu), peak, _ = apart(crowd, method)
        rows.append((f"a digits run of {CLIENTS:,} clients, `{method}`", wall, cpu, peak))
        say(f"{method}: {wall:.0f} s, {peak:.0f} MB")
    with TemporaryDirectory() as folder:
        apart(long_run, Path(folder) / "run")
        (wall, cpu), peak, _ = apart(reported, Path(folder) / "run")
    rows.append((f"a report of {ROUNDS} rounds x {MANY} clients", wall, cpu, peak))
    say(f"report: {wall:.0f} s, {peak:.0f} MB")
    about = (
        "One round of one epoch, two workers, one or two images per client; and the report of a run with "
        f"{ROUNDS * MANY:,} client records. Peak memory of the parent."
    )
    return Table("Load", about, ("what", "seconds by the clock", "processor seconds", "peak MB"), rows)


def crowd(method: str) -> tuple[float, float]:
    with TemporaryDirectory() as folder:
        words = [f"method={method}", f"partition.clients={CLIENTS}", "engine.workers=2", f"out={folder}/run", *SHORT]
        (experiment,) = load(overrides=words)
        began, before = monotonic(), cpu_seconds()
        run_experiment(experiment)
        return monotonic() - began, cpu_seconds() - before


def long_run(folder: Path) -> None:
    """A short real run of many clients; its one round is told again and again, as a long run would tell it."""
    words = ["method=v12", f"partition.clients={MANY}", "engine.workers=2", f"out={folder}", *SHORT]
    (experiment,) = load(overrides=words)
    result = run_experiment(experiment)
    [only] = result.rounds
    rounds = tuple(
        replace(only, round=at, clients=tuple(replace(client, round=at) for client in only.clients))
        for at in range(ROUNDS)
    )
    write_result(folder, replace(result, rounds=rounds))


def reported(folder: Path) -> tuple[float, float]:
    assert RunFolder(folder).result.rounds
    began, before = monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    report(folder)
    return monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
