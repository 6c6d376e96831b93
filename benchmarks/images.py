"""Colour images of 32 x 32 pixels as the sources of the notes have; how long they take does not depend on what they
show, so they are drawn at random."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

CLASSES = 10


def write_images(path: Path, clients: Sequence[int], test: int) -> None:
    """One .npz for data.source=arrays: so many images for each client (its site), and for the test."""
    rng = np.random.default_rng(0)

    def draw(count: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.integers(0, 256, (count, 32, 32, 3), np.uint8), np.arange(count) % CLASSES

    train_images, train_labels = draw(sum(clients))
    test_images, test_labels = draw(test)
    np.savez(
        path,
        train_images=train_images,
        train_labels=train_labels,
        test_images=test_images,
        test_labels=test_labels,
        train_sites=np.repeat([f"site-{client}" for client in range(len(clients))], clients),
    )
