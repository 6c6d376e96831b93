import pytest
import torch

from mooring.anchors import ANCHORS, Progressive
from mooring.errors import ModelError
from mooring.models._heads import simplex_etf
from mooring.seeds import generator
from mooring.types import Progress


@pytest.mark.parametrize("classes", [2, 3, 10, 100])
@pytest.mark.parametrize("dimension", ["C-1", "C", 512])
def test_gram_matrix_of_the_simplex_is_minus_one_over_c_minus_one(classes, dimension):
    d = {"C-1": classes - 1, "C": classes}.get(dimension, dimension)
    anchors = simplex_etf(classes, d, generator(0, "test"))
    gram = torch.full((classes, classes), -1 / (classes - 1)).fill_diagonal_(1.0)
    assert anchors.shape == (classes, d)
    torch.testing.assert_close(anchors @ anchors.T, gram, atol=1e-5, rtol=0)


def test_too_few_dimensions_are_rejected_with_the_remedy():
    with pytest.raises(ModelError, match=r"needs 9 feature dimensions, the model has 8; raise model.width"):
        simplex_etf(10, 8, generator(0, "test"))


def test_one_class_has_one_unit_anchor():
    assert simplex_etf(1, 4, generator(0, "test")).norm() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", ANCHORS)
def test_anchors_are_unit_the_same_for_one_seed_and_others_for_another(kind):
    initial = torch.randn(5, 8, generator=generator(1, "prototypes"))
    first, second, other = (ANCHORS[kind]().build(initial, generator(s, "anchors"))(Progress(1, 2)) for s in (3, 3, 4))
    torch.testing.assert_close(first.norm(dim=1), torch.ones(5))
    assert torch.equal(first, second)
    assert not torch.allclose(first, other)


def test_progressive_anchors_go_from_the_prototypes_to_the_simplex():
    initial = torch.randn(5, 8, generator=generator(1, "prototypes"))
    anchors = Progressive().build(initial, generator(3, "anchors"))
    torch.testing.assert_close(anchors(Progress(0, 10)), torch.nn.functional.normalize(initial))
    end = anchors(Progress(10, 10))
    torch.testing.assert_close(end @ end.T, torch.full((5, 5), -0.25).fill_diagonal_(1.0), atol=1e-5, rtol=0)
