"""A client that keeps images out of its own training: for the weighting that asks, and for nobody else."""

from dataclasses import replace

import pytest
import torch

from mooring.client._held_out import held_out, held_out_count
from mooring.client._loop import facts_of, run_client
from mooring.data._sites import InMemorySite
from mooring.events import ClientRecord
from mooring.methods import METHODS


def test_training_images_and_held_out_ones_are_all_of_them_and_never_the_same(make_job, shard_of):
    shard = shard_of([0, 1, 2], 10)
    kept = held_out(make_job("hypergradient-held-out"), shard, 4)
    assert (len(kept.trained), len(kept.labels)) == (27, 3)
    both = torch.cat([shard.images[kept.trained], kept.images])
    assert sorted(both.flatten(1).sum(1).tolist()) == sorted(shard.images.flatten(1).sum(1).tolist())
    assert held_out(make_job("hypergradient"), shard, 4) is None


def test_held_out_batches_go_round_all_of_them(make_job, shard_of):
    kept = held_out(make_job("hypergradient-held-out"), shard_of([0, 1, 2], 17), 0)
    assert len(kept.labels) == 6
    first, second = (torch.cat([kept.batch(step, 4)[0] for step in steps]) for steps in ((0, 1, 2), (3, 4, 5)))
    assert torch.equal(first, second)
    assert torch.equal(first[:6], kept.images)


@pytest.mark.parametrize(("samples", "held"), [(0, 0), (1, 0), (2, 1), (10, 1), (11, 2), (1000, 100)])
def test_at_least_one_image_is_held_out_and_at_least_one_is_trained_on(samples, held):
    assert held_out_count(samples, 0.1) == held
    assert held_out_count(samples, 0.0) == 0


def test_steps_are_counted_over_what_is_trained_on_and_uploads_over_everything(make_job, shard_of):
    job = make_job("hypergradient-held-out", batch_size=9, local_epochs=2)
    shard = shard_of([0, 1, 2], 10)
    facts = facts_of(job, shard.label_counts(), 0)
    events = []
    (upload,) = run_client(job, InMemorySite(0, shard), events.append)
    (record,) = [event for event in events if isinstance(event, ClientRecord)]
    assert facts.steps == record.steps == 2 * 3
    assert upload.samples == facts.samples == 30
    assert record.lambda_felt != 1.0  # it has moved


def test_a_client_with_one_image_holds_out_nothing_and_leaves_lambda_where_it_starts(make_job, shard_of):
    events = []
    list(
        run_client(make_job("hypergradient-held-out", local_epochs=3), InMemorySite(0, shard_of([0], 1)), events.append)
    )
    assert [event.lambda_felt for event in events if isinstance(event, ClientRecord)] == [1.0]


def test_a_share_of_nothing_changes_nothing(make_job, shard_of):
    """The loop looks at held-out images only if there are some: the same bytes as before they could be."""
    job = make_job("hypergradient")
    same = replace(job, recipe=replace(job.recipe, held_out=0.0))
    assert same.sha256 == job.sha256
    assert "held_out" not in job.canonical()
    assert "held_out" in make_job("hypergradient-held-out").canonical()
    assert METHODS["hypergradient"].client.held_out == 0.0
