"""Run an experiment and write its record."""

import os
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from mooring.config import Experiment, as_yaml, load_recorded, trusted_code_of
from mooring.data import ImageSet, Source, reading_progress
from mooring.engines import device_of_server
from mooring.errors import MooringError, StoreError, TrustError
from mooring.evaluate import Examiner
from mooring.events import (
    Emit,
    FeaturesChosen,
    PartitionDrawn,
    Remark,
    silent,
)
from mooring.execution._clock import Clock
from mooring.execution._forecast import all_facts, foresee
from mooring.execution._model import model_of
from mooring.execution._prepare import prepare, server_of
from mooring.execution._running import Running
from mooring.processes import keep_freed_memory, return_freed_memory, threads
from mooring.record import (
    Result,
    RunFolder,
    environment,
    open_run_folder,
    user_errors_kept,
)
from mooring.schema import to_tree
from mooring.user_code import as_raised, listening
from mooring.wording import percent

RUNS = Path("runs")
MOST_COMPARED = 20_000  # images: the search for copies takes minutes beyond it
LEAKED = 0.02  # of the test images


def run_experiment(
    experiment: Experiment,
    emit: Emit = silent,
    again: bool = False,
    threads_of_server: int | None = None,
    command: str | None = None,
) -> Result:
    """Run an experiment and return its result; a finished one is returned at once unless `again`.

    `threads_of_server`: of this process while it fuses and evaluates; without it, one per core, where the test
    images are worth more than one. What `emit` raises stops the run, as Ctrl-C does, and comes out as it was raised.

    >>> from mooring import load, run_experiment
    >>> [experiment] = load(overrides=["method=afl", "data.limit=100", "engine.workers=1", "out=runs/afl"])
    >>> run_experiment(experiment).method
    'afl'
    """
    listener = listening(emit)
    return as_raised(lambda: run_to_its_end(experiment, listener, again, threads_of_server, command))


def run_to_its_end(
    experiment: Experiment, emit: Emit, again: bool, threads_of_server: int | None, command: str | None
) -> Result:
    folder, device = RunFolder(run_folder_of(experiment)), device_of_server(experiment.engine)
    if not again:
        result = folder.finished(experiment.fingerprint())
        if result is not None:
            return unchanged(result, experiment, folder)
    clock = Clock()
    keep_freed_memory()  # evaluation is twice as fast
    with user_errors_kept(folder.path), threads(1):  # one thread: beside the workers, not against them
        with reading_progress(emit):
            federation, job = prepare(experiment)
            examiner = Examiner(experiment.data, federation.train.classes, device)
        server = server_of(experiment, federation, job)
        going_on = not again and interrupted(folder, experiment)
        with open_run_folder(folder.path, as_yaml(experiment.tree()), going_on) as writer:
            running = Running(experiment, job, federation.sites(), server, examiner, writer, emit, clock=clock)
            running.threads = threads_of_server or os.cpu_count() or 1
            running.complete_job()
            resumed = running.recall() if going_on else None
            if experiment.why and not going_on:
                running.note(features_chosen(experiment))
            running.note(PartitionDrawn(tuple(site.name for site in running.sites), federation.summary()))
            if resumed is not None:
                running.note(resumed)
            else:
                for remark in (
                    *incomplete_test_set(experiment.data, examiner.available),
                    *copies_in_test_set(experiment.data, examiner, federation.train),
                ):
                    running.note(remark)
            for forecast in foresee(running.job, all_facts(running.job, federation)):
                running.note(forecast)
            return_freed_memory()  # of the comparison of images; workers need it now
            running.collect()
            result = replace(
                running.result(),
                data_sha256=federation.digest(),
                partition=federation.summary(),
                seconds=clock.total(),
                spent=clock.spent(),
                command=command,
                date=datetime.now(UTC).isoformat(timespec="seconds"),
                environment=environment(),
            )
            fusion, last = experiment.method.fusion, result.last.round
            if running.model is not None and fusion is not None:
                clients = sorted(result.delivered(last))
                writer.save_model(model_of(running.model, fusion, experiment, result, last, clients))
            result = writer.finish(result)
    return result


def incomplete_test_set(source: Source, available: int) -> list[Remark]:
    """A result on part of an official test set must not be taken for one on all of it."""
    if source.official_test in (None, available):
        return []
    text = f"the files of {source.source} hold {available:,} test images; the official test set has"
    return [Remark(f"{text} {source.official_test:,}")]


def copies_in_test_set(source: Source, examiner: Examiner, train: ImageSet) -> list[Remark]:
    """Of a user's own images: copies of training images among the test images make the accuracy too good."""
    if source.wanted is None or len(train) + examiner.images > MOST_COMPARED:
        return []
    copies = examiner.copies_of(train)
    if copies < LEAKED * examiner.images:
        return []
    share = f"{copies:,} of {examiner.images:,} test images ({percent(copies / examiner.images)})"
    remedy = "set data.split=grouped, and look at the copies with mooring check"
    return [Remark(f"{share} have a copy among the training images, so the accuracy is too good; {remedy}")]


def features_chosen(experiment: Experiment) -> FeaturesChosen:
    """The features that were chosen for the method, as its configuration names them."""
    features = to_tree(experiment.written().method)["fusion"]["map"]
    name = features.get("weights") or features.get("path") or features["kind"]
    return FeaturesChosen(str(name), experiment.method.track, experiment.why)


def unchanged(result: Result, experiment: Experiment, folder: RunFolder) -> Result:
    """A finished result; an error if the user's own files have changed: a fingerprint knows only their names."""
    if experiment.partition.kind == "file" or experiment.data.wanted is not None:
        federation, _ = prepare(experiment)
        if (federation.summary().sha256, federation.digest()) != (result.partition.sha256, result.data_sha256):
            raise StoreError(
                f"out={folder.path}: its data or partition file has changed since this result",
                "repeat it with --again",
            )
    if experiment.method.track == "frozen encoder":
        _, job = prepare(experiment)
        names = {name for part in job.needs for name in part.expected(job.blueprint)}
        if not names <= folder.upload(result.uploads[0]).tensors.keys():
            raise StoreError(
                f"out={folder.path}: the frozen encoder's file has changed since this result", "repeat it with --again"
            )
    return result


def interrupted(folder: RunFolder, experiment: Experiment) -> bool:
    """Does the folder hold an interrupted run of this experiment? An interrupted run of another one is an error."""
    if not (folder.path / "state").is_dir():
        return False
    another = "choose another folder with out=..., or repeat with --again to replace it"
    try:
        waiting = load_recorded(folder.experiment_file, trusted_code_of(experiment.tree()))
    except TrustError:  # it names code that this experiment does not
        raise StoreError(f"out={folder.path}: holds an interrupted run of another experiment", another) from None
    except MooringError:
        return True  # damaged, and about to be written again; the states know themselves whose they are
    if waiting.fingerprint() != experiment.fingerprint():
        raise StoreError(
            f"out={folder.path}: holds an interrupted run of another experiment ({waiting.label}, "
            f"fingerprint {waiting.fingerprint()[:8]})",
            another,
        )
    return True


def run_folder_of(experiment: Experiment) -> Path:
    return Path(experiment.out) if experiment.out else RUNS / experiment.title
