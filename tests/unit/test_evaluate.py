import ast
from pathlib import Path

import pytest
import torch

import mooring
from mooring.evaluate import batch_by_batch, calibration_error, measure
from mooring.models._backbones import DigitsNet
from mooring.processes import threads
from mooring.seeds import generator


def test_metrics_equal_scikit_learns():
    from sklearn.metrics import (
        balanced_accuracy_score,
        f1_score,
        roc_auc_score,
    )  # a second, which every collection would pay

    rng = generator(0, "evaluate")
    scores = torch.randn(300, 7, generator=rng)
    labels = torch.randint(0, 7, (300,), generator=rng)
    metrics, predicted = measure(scores, labels), scores.argmax(1)
    assert metrics.accuracy == pytest.approx((predicted == labels).double().mean().item())
    assert metrics.balanced_accuracy == pytest.approx(balanced_accuracy_score(labels, predicted))
    assert metrics.macro_f1 == pytest.approx(f1_score(labels, predicted, average="macro"))
    assert sum(map(sum, metrics.confusion)) == 300
    by_class = [roc_auc_score(labels == c, scores.softmax(1)[:, c]) for c in range(7)]
    assert metrics.per_class_auc == pytest.approx(by_class, abs=1e-4)


def test_a_class_without_test_images_has_no_accuracy_and_harms_nobody():
    metrics = measure(torch.eye(3)[[0, 1]], torch.tensor([0, 1]))
    assert metrics.per_class_accuracy == (1.0, 1.0, None)
    assert metrics.balanced_accuracy == 1.0
    assert metrics.per_class_auc == (1.0, 1.0, None)


def test_calibration_error_by_hand():
    scores = torch.log(torch.tensor([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.6, 0.4]]))
    hit = torch.tensor([True, False, True, True])
    # bins: .9 twice with accuracy .5 (gap .4 each), .6 twice with accuracy 1 (gap .4 each)
    assert calibration_error(scores, hit) == pytest.approx(0.4)


def test_test_data_is_read_in_evaluate_only():
    root = Path(mooring.__file__).parent
    readers = set()
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "test":
                readers.add(path.relative_to(root).as_posix())
    assert readers == {"evaluate.py"}


def test_what_is_found_does_not_depend_on_the_number_of_threads():
    """Three batches, the last a short one; and torch has as many threads afterwards as before."""
    encoder, _ = DigitsNet().build((1, 8, 8), generator(0, "encoder"))
    images, found = torch.randn(1100, 1, 8, 8, generator=generator(0, "images")), []
    for count in (1, 2, 5):
        with threads(count):
            found.append(torch.cat(batch_by_batch(encoder.eval(), images)))
            assert torch.get_num_threads() == count
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])
    assert not found[0].requires_grad
