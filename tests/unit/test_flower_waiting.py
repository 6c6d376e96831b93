"""`mooring flower wait`: it comes back when something listens, and says in one line when nothing does."""

import socket

import pytest

from mooring.errors import FederationError
from mooring.flower_app import _waiting as waiting
from mooring.flower_app._waiting import wait_for


@pytest.fixture
def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_it_comes_back_once_something_listens(free_port, monkeypatch):
    listeners = []
    monkeypatch.setattr(waiting, "sleep", lambda _: listeners.append(socket.create_server(("127.0.0.1", free_port))))
    wait_for(f"127.0.0.1:{free_port}", 600)
    [listener] = listeners  # nothing listened the first time
    listener.close()


def test_a_superlink_that_never_listens_is_one_line_and_exit_code_2(cli, free_port):
    code, out, err = cli("flower", "wait", f"127.0.0.1:{free_port}", "--seconds", "0")
    assert (code, out) == (2, "")
    assert "".join(err.split("\n")) == (
        f"error: 127.0.0.1:{free_port}: nothing listened there for 0 seconds; "
        "the log of flower-superlink says whether it runs, and where"
    )


@pytest.mark.parametrize("address", ["8000", "127.0.0.1", ":8000", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:http"])
def test_what_is_no_address_is_said_at_once(address):
    with pytest.raises(FederationError, match="is not an address; write HOST:PORT"):
        wait_for(address, 600)
