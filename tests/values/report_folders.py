"""Run folders for reports: copies of one real run that say they were another experiment."""

import shutil
from dataclasses import replace

from mooring import load
from mooring.config import as_yaml
from mooring.record import FusionRecord, Metrics, RunFolder, Seeds, write_result

SHORT = ("training.rounds=2", "training.local_epochs=1", "data.limit=300", "engine.workers=1")


def relabelled(run, copy, overrides, accuracy, **changes):
    """A copy of a run under other settings, with an accuracy that can be added up by hand; its result."""
    shutil.copytree(run, copy)
    [experiment] = load(overrides=[*SHORT, *overrides])
    (copy / "experiment.yaml").write_text(as_yaml(experiment.tree()))
    told = RunFolder(run).result
    last = replace(told.last, metrics=replace(told.metrics, accuracy=accuracy))
    changes |= {"method": experiment.label, "fingerprint": experiment.fingerprint()}
    seeds = Seeds(experiment.seed, experiment.split_seed)
    result = replace(told, accuracy=accuracy, rounds=(*told.rounds[:-1], last), seeds=seeds, **changes)
    write_result(copy, result)
    return result


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
