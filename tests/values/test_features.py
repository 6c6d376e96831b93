"""What a client says of its features, by hand."""

import pytest
import torch
import torch.nn.functional as F

from mooring.client._measured import nearness, scatter

SIMPLEX = torch.eye(3)


def test_classes_that_became_one_vector_each_have_no_scatter():
    z, labels = SIMPLEX[[0, 0, 1, 2]], torch.tensor([4, 4, 7, 9])
    assert scatter(z, labels) == pytest.approx(0.0, abs=1e-7)


def test_classes_that_are_mixed_have_all_of_it():
    z, labels = SIMPLEX[[0, 1, 0, 1]], torch.tensor([4, 4, 7, 7])
    assert scatter(z, labels) == pytest.approx(1.0)


def test_the_share_within_classes():
    z = torch.tensor([[0.0], [2.0], [10.0], [12.0]])
    assert scatter(z, torch.tensor([0, 0, 1, 1])) == pytest.approx(4 / 104)


@pytest.mark.parametrize(("z", "labels"), [(SIMPLEX, [3, 3, 3]), (SIMPLEX[[0, 0]], [1, 2])])
def test_one_class_or_one_vector_says_nothing(z, labels):
    assert scatter(z, torch.tensor(labels)) is None


def test_nearness_is_the_cosine_with_the_anchor_of_the_class():
    z = F.normalize(torch.tensor([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))
    assert nearness(z, torch.tensor([0, 2]), SIMPLEX) == pytest.approx((0.5**0.5 + 1) / 2)
    assert nearness(z, torch.tensor([0, 2]), None) is None
