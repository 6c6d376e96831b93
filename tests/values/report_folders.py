"""Run folders for reports: copies of one real run that say they were another experiment."""

import shutil
from contextlib import nullcontext
from dataclasses import replace

from mooring import load
from mooring.config import as_yaml
from mooring.events import ClientRecord, ClientStarted, EpochRecord, PartitionDrawn
from mooring.notes._plan import load_study, study_file, with_seeds
from mooring.notes._run_study import plans, run_study
from mooring.record import (
    FusionRecord,
    Metrics,
    RoundRecord,
    RunFolder,
    RunRecord,
    RunResult,
    Seeds,
    SiteRecord,
    SweepMember,
    SweepRecord,
    events_text,
    write_result,
    write_sweep,
)
from mooring.sweeps._members import members_of
from mooring.types import PartitionSummary

SHORT = ("training.rounds=2", "training.local_epochs=1", "data.limit=300", "engine.workers=1")


def relabelled(run, copy, overrides, accuracy, **changes):
    """A copy of a run under other settings, with an accuracy that can be added up by hand; its result."""
    [experiment] = load(overrides=[*SHORT, *overrides])
    return posing_as(experiment, run, copy, accuracy, **changes)


def posing_as(experiment, run, copy, accuracy, **changes):
    """A copy of a run that says it was this experiment."""
    shutil.copytree(run, copy)
    (copy / "experiment.yaml").write_text(as_yaml(experiment.tree()))
    told = RunFolder(run).result
    last = replace(told.last, metrics=replace(told.metrics, accuracy=accuracy))
    changes |= {"method": experiment.label, "fingerprint": experiment.fingerprint()}
    seeds = Seeds(experiment.seed, experiment.split_seed)
    result = replace(told, accuracy=accuracy, rounds=(*told.rounds[:-1], last), seeds=seeds, **changes)
    write_result(copy, result)
    return result


def noted(number, run, folder):
    """A study with all its experiments, claims and tables, of copies of one run: nobody has to train."""
    study = with_seeds(load_study(study_file(number)), "quick", (1, 2))
    for name, sweep in plans(study, study.scales.quick, SHORT):
        for member in members_of(sweep, folder / name):
            posing_as(member.experiment, run, member.folder, 0.5)
        (folder / name / "sweep.yaml").write_text(as_yaml(sweep.tree()))
    run_study(study, "quick", SHORT, folder, lambda _, __: nullcontext(lambda event: None), workers=1)


def with_many_clients(run, copy, clients):
    """A copy of a run whose clients come again and again, under other numbers: a crowd that nobody has to train."""
    shutil.copytree(run, copy)
    folder = RunFolder(run)
    told, events = folder.result, [timed.event for timed in folder.events]
    alike = {client: client % told.clients for client in range(clients)}  # the client that each one is a copy of

    def repeated(values):
        return tuple(values[own] for own in alike.values())

    lists = ("sizes", "label_counts", "classes_per_client", "entropy", "normalised_entropy")
    told_of_clients = {name: repeated(getattr(told.partition, name)) for name in lists}
    partition = replace(told.partition, clients=clients, **told_of_clients)
    sites = tuple(SiteRecord(client, f"client {client}", told.sites[own].images) for client, own in alike.items())
    rounds = tuple(
        replace(row, clients=tuple(replace(row.clients[own], client=client) for client, own in alike.items()))
        for row in told.rounds
    )
    said = [PartitionDrawn(tuple(site.name for site in sites), partition)]
    said += [
        replace(event, client=client)
        for client, own in alike.items()
        for event in events
        if isinstance(event, ClientRecord | ClientStarted | EpochRecord) and event.client == own
    ]
    (copy / "events.jsonl").write_text(events_text(said))
    write_result(copy, replace(told, partition=partition, sites=sites, rounds=rounds))


def write_members(folder, factors, baseline=None, failed=(), trained_by=()):
    """`sweep.json` of these members: {name: factors}, and {name: the run that trained it} for those only fused."""
    failed, trained_by = dict(failed), dict(trained_by)
    rows = (
        SweepMember(name, own, failed.get(name, "finished"), trained_by.get(name, name))
        for name, own in factors.items()
    )
    write_sweep(folder, SweepRecord(tuple(rows), baseline))


def scored(factors, accuracy, images=None, **changes):
    """A run of a sweep that has this accuracy; None: it did not finish."""
    if accuracy is None:
        return RunRecord("run", (), {}, factors=factors)
    last = RoundRecord(0, changes.pop("metrics", Metrics(accuracy)))
    partition, seeds = PartitionSummary(None, 1), Seeds(1, 1)
    result = RunResult("v4", accuracy, (last,), partition, seeds, test_images=images, **changes)
    return RunRecord("run", (), {0: accuracy}, result, factors=factors)


def fusion_of(result, kind, accuracy):
    """What `mooring fuse` would keep of this rule over the uploads of a run."""
    return FusionRecord(
        fusion=kind,
        track="trained from scratch",
        method=result.method,
        fingerprint=result.fingerprint,
        seeds=result.seeds,
        round=result.last.round,
        clients=tuple(row.client for row in result.last.clients),
        metrics=Metrics(accuracy),
        settings={"kind": kind},
        upload_bytes=7,
    )
