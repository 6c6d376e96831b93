"""Which clients are evaluated by themselves, when, and on what."""

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
import torch
from untrained import PLAN, upload_of

from mooring.client._device import Device
from mooring.config._experiment import ClientEvaluation
from mooring.data._digits import Digits
from mooring.evaluate import Examiner
from mooring.fusion import FeatureEnsemble, fuse
from mooring.fusion._base import Server

TINY = ("data.limit=100", "partition.clients=2", "training.rounds=2", "training.local_epochs=1", "engine.workers=1")


def own(result):
    return [[client["accuracy"] for client in row["clients"]] for row in result["rounds"]]


def figures(result):
    return [row["metrics"] for row in result["rounds"]]


class Recording(Device):
    """The CPU under another name, which remembers what it was given."""

    modules: ClassVar = []
    batches: ClassVar = []

    def take(self, tensor):
        self.batches.append(len(tensor))
        return tensor

    def hold(self, module):
        self.modules.append(module)


def test_a_predictor_is_examined_where_the_examiner_computes(shard_of):
    rule = FeatureEnsemble()
    predictor = fuse(rule, [upload_of(PLAN, shard_of([k, 5], 9), k, rule.needs) for k in range(2)], Server(PLAN))
    elsewhere = Recording("elsewhere")
    there, here = Examiner(Digits(), device=elsewhere), Examiner(Digits())
    assert there.examine_with_members(predictor) == here.examine_with_members(predictor)
    assert elsewhere.modules == [predictor]
    assert sum(elsewhere.batches) == there.images


def test_clients_of_an_average_are_evaluated_when_it_is_asked_for_and_nothing_else_changes(run_json):
    last = run_json(*TINY, "method=fedavg-1", "evaluate.images=50")
    every = run_json(*TINY, "method=fedavg-1", "evaluate.clients=all")
    none = run_json(*TINY, "method=fedavg-1", "evaluate.clients=none")
    assert own(none) == [[None, None], [None, None]]
    assert [[value is None for value in row] for row in own(last)] == [[True, True], [False, False]]
    assert all(isinstance(value, float) for row in own(every) for value in row)
    assert [row["alone_images"] for row in last["rounds"]] == [None, 50]
    assert [row["alone_images"] for row in every["rounds"]] == [360, 360]
    assert figures(last) == figures(every) == figures(none)
    assert last["uploads"] == every["uploads"] == none["uploads"]
    assert len({result["fingerprint"] for result in (last, every, none)}) == 3


@pytest.mark.parametrize(("clients", "images"), [(1, 2000), (5, 2000), (50, 200), (1000, 100)])
def test_many_clients_are_shown_fewer_images_each(clients, images):
    assert ClientEvaluation().images_at(9, 9, clients) == images
    assert ClientEvaluation(images=50).images_at(9, 9, clients) == 50
    assert ClientEvaluation(passes=10**9).images_at(9, 9, clients) == 2000
    assert ClientEvaluation().images_at(8, 9, clients) == 0


def test_clients_that_take_part_in_every_prediction_cost_nothing_and_are_told_for_every_round(run_json):
    result = run_json(*TINY, "method=v4", "evaluate.images=50")
    assert all(isinstance(value, float) for row in own(result) for value in row)
    assert [row["alone_images"] for row in result["rounds"]] == [360, 360]


def test_the_table_says_that_clients_were_shown_fewer_images(cli):
    _, out, _ = cli("run", *TINY, "method=fedavg-1", "evaluate.images=50", "-q")
    assert "local-only: on 50 of 360 test images" in " ".join(out.split())


@pytest.mark.parametrize("most", [50, 360, 1000])
def test_some_test_images_are_a_stratified_choice_that_never_changes(most):
    shown = []

    def predictor(images):
        shown.append(images)
        return torch.zeros(len(images), 10)

    counts = [sum(row) for row in Examiner(Digits()).examine(predictor, most).confusion]
    again = Examiner(Digits())
    again.examine(predictor, most)
    assert sum(counts) == min(most, 360)
    assert max(counts) - min(counts) <= 2
    assert torch.equal(*torch.cat(shown).chunk(2))


@dataclass(frozen=True)
class Large(Digits):
    """Test images of as many values as natural ones have."""

    def test(self):
        few = super().test()
        return replace(few, images=few.images.repeat(1, 1, 12, 12))


def test_small_test_images_are_not_worth_a_second_thread():
    assert Examiner(Digits()).threads(8) == 1
    assert Examiner(Large()).threads(8) == 8


def test_fewer_test_images_are_a_stratified_choice_and_are_said(cli, run_json):
    result = run_json(*TINY, "method=v4", "data.test_limit=100")
    assert result["test_images"] == 100
    counts = [sum(row) for row in result["rounds"][-1]["metrics"]["confusion"]]
    assert sum(counts) == 100
    assert set(counts) <= {9, 10, 11}
    code, _, err = cli("run", *TINY, "data.test_limit=1000")
    told = "data.test_limit=1000 is more than the 360 test images there are; lower data.test_limit or leave it out"
    assert code == 2
    assert told in err
