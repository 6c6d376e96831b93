import sys

import pytest
from fuzzing import Worker


@pytest.fixture(scope="session")
def worker():
    """A process with little room that reads hostile bytes."""
    if sys.platform != "linux":
        pytest.skip("hostile files are read under an address-space limit, which needs Linux")
    started = Worker()
    yield started
    started.close()


@pytest.fixture
def rejected(worker):
    """Bytes that must be refused in one line that has these words, with so many megabytes of room."""

    def reject(target, content, *words, megabytes=200):
        outcome = worker.read(target, content, megabytes << 20)
        assert outcome.kind == "refused", outcome.text
        assert "; " in outcome.text, "no remedy"
        for word in words:
            assert word in outcome.text
        return outcome.text

    return reject
