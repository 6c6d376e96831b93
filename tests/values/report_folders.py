"""Run folders for reports: copies of one real run that say they were another experiment."""

import json
import shutil

from mooring import load
from mooring.config import as_yaml

SHORT = ("training.rounds=2", "training.local_epochs=1", "data.limit=300", "engine.workers=1")


def relabelled(run, copy, overrides, accuracy):
    """A copy of a run under other settings, with an accuracy that can be added up by hand."""
    shutil.copytree(run, copy)
    [experiment] = load(overrides=[*SHORT, *overrides])
    (copy / "experiment.yaml").write_text(as_yaml(experiment.tree()))
    result = json.loads((copy / "result.json").read_text())
    result |= {"accuracy": accuracy, "method": experiment.name, "fingerprint": experiment.fingerprint()}
    result["seeds"] = {"training": experiment.seed, "split": experiment.split_seed}
    result["rounds"][-1]["accuracy"] = accuracy
    (copy / "result.json").write_text(json.dumps(result))
