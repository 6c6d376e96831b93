"""Small real things that many tests share."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from mooring.bank import stand_in
from mooring.cli import main
from mooring.client import ClientJob, Training
from mooring.data.digits import Digits
from mooring.data.images import ImageSet
from mooring.methods import METHODS
from mooring.models.backbones import DigitsNet
from mooring.models.network import Blueprint
from mooring.uploads import Encoder, LabelCounts, Prototypes

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def digits() -> ImageSet:
    return Digits().train()


@pytest.fixture(scope="session")
def make_job(digits):
    """A client's work order on the digits."""

    def make(method="v7", seed=1, needs=frozenset({Encoder(), Prototypes(), LabelCounts()}), **training):
        method = METHODS[method] if isinstance(method, str) else method
        recipe = method.client
        blueprint = Blueprint(DigitsNet(), recipe.head, (1, 8, 8), 10, Digits.mean, Digits.std)
        plan = Training(**{"rounds": 1, "local_epochs": 1} | training)
        job = ClientJob(blueprint, recipe, plan, seed, False, needs)
        return job if method.bank is None else replace(job, bank=stand_in(method.bank, digits, job))

    return make


@pytest.fixture(scope="session")
def shard_of(digits):
    """The first images of the given labels, `each` of them."""

    def shard(labels, each):
        chosen = [np.flatnonzero(digits.labels.numpy() == c)[:each] for c in labels]
        return digits.select(torch.from_numpy(np.concatenate(chosen) if chosen else np.empty(0, np.int64)))

    return shard


@pytest.fixture
def cli(monkeypatch, capsys, tmp_path):
    """Run the command line as a user does, in an empty folder; returns (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["mooring", *map(str, arguments)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return run
