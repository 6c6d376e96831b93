import pytest
import torch

from mooring.client._job import epoch_batches, steps_per_epoch
from mooring.seeds import generator


@pytest.mark.parametrize("size", [1, 2, 7, 32])
@pytest.mark.parametrize("samples", [0, 1, 2, 7, 31, 32, 33, 64, 65, 100])
def test_an_epoch_sees_every_image_once_and_never_a_lonely_last_one(samples, size):
    parts = epoch_batches(samples, size, generator(0, "order"))
    assert sorted(i for part in parts for i in part.tolist()) == list(range(samples))
    assert len(parts) == steps_per_epoch(samples, size)
    if samples > 1 and size > 1:
        assert all(len(part) > 1 for part in parts)


def test_the_order_changes_from_epoch_to_epoch_and_not_from_run_to_run():
    rng, again = generator(0, "order"), generator(0, "order")
    first, second = torch.cat(epoch_batches(50, 8, rng)), torch.cat(epoch_batches(50, 8, rng))
    assert not torch.equal(first, second)
    assert torch.equal(first, torch.cat(epoch_batches(50, 8, again)))
