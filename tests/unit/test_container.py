"""The `.mooring` file: what was signed is what is read, and nothing else is."""

import os
import stat
from pathlib import Path

import pytest
from nacl.signing import SigningKey

from mooring.errors import FederationError
from mooring.federation._container import FileLimits, decode_container, encode, read_container
from mooring.federation._keys import HOME, fingerprint, home, own_identity

KEY = SigningKey(b"k" * 32)
FILE = encode("job", {"sites": ["north", "south"], "seed": 3}, b"tensors", KEY)


def test_a_file_says_what_was_written_and_who_wrote_it():
    held = decode_container(FILE, "job")
    assert (held.kind, held.manifest, held.payload) == ("job", {"sites": ["north", "south"], "seed": 3}, b"tensors")
    assert held.signer == bytes(KEY.verify_key).hex()
    assert encode("job", {"seed": 3, "sites": ["north", "south"]}, b"tensors", KEY) == FILE


@pytest.mark.parametrize("signed", [True, False])
def test_no_changed_byte_is_accepted(signed: bool):
    file = encode("model", {"classes": ["a", "b"]}, b"\x00\x01", KEY if signed else None)
    assert decode_container(file, "model").manifest == {"classes": ["a", "b"]}
    for at in range(len(file)):
        for bit in (1, 128):
            damaged = bytearray(file)
            damaged[at] ^= bit
            with pytest.raises(FederationError):
                decode_container(bytes(damaged), "model")
    for shorter in (file[:-1], file[1:], file + b"\x00", b""):
        with pytest.raises(FederationError):
            decode_container(shorter, "model")


def test_a_signature_of_somebody_else_is_not_taken_for_the_signers():
    other = encode("job", {"seed": 3}, b"", SigningKey(b"o" * 32))
    mine = encode("job", {"seed": 3}, b"", KEY)
    with pytest.raises(FederationError, match="changed after it was signed"):
        decode_container(mine[:-64] + other[-64:], "job")


def test_another_kind_is_named():
    with pytest.raises(FederationError, match="is a job, not an upload"):
        decode_container(FILE, "upload")


def test_a_head_has_one_spelling():
    tree = b'{"format": 1, "kind": "job", "manifest": {}, "payload": {"bytes": 0, "sha256": ""}, "signer": null}'
    with pytest.raises(FederationError, match="did not write"):
        decode_container(b"MOORING1" + len(tree).to_bytes(4, "little") + tree + bytes(32), "job")


def test_a_file_is_measured_before_it_is_read(tmp_path: Path):
    large = tmp_path / "large.mooring"
    with large.open("wb") as file:
        file.truncate(2**40)  # a hole: no byte of it is on the disk
    with pytest.raises(FederationError, match="may have 1000"):
        read_container(large, "job", FileLimits(bytes=1000))
    with pytest.raises(FederationError, match="head of"):
        decode_container(FILE, "job", FileLimits(head_bytes=10))


def test_a_pipe_is_no_file(tmp_path: Path):
    with pytest.raises(FederationError, match="cannot be read"):
        read_container(tmp_path / "nothing.mooring", "job")
    if os.name == "posix":
        with pytest.raises(FederationError, match="not a regular file"):
            read_container(Path("/dev/null"), "job")
        os.mkfifo(tmp_path / "pipe.mooring")  # nobody writes into it: opening it would wait for ever
        with pytest.raises(FederationError, match="not a regular file"):
            read_container(tmp_path / "pipe.mooring", "job")


def test_a_key_is_made_once_for_its_owner_alone(tmp_path: Path):
    first, second = own_identity(tmp_path / "home"), own_identity(tmp_path / "home")
    assert first.is_new
    assert not second.is_new
    assert first.public == second.public
    assert fingerprint(first.public).replace("-", "") == first.public[:16]
    if os.name == "posix":
        assert stat.S_IMODE(first.path.stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["private.key"]


def test_a_damaged_key_is_not_replaced(tmp_path: Path):
    (tmp_path / "private.key").write_text("no key")
    with pytest.raises(FederationError, match="is not a private key"):
        own_identity(tmp_path)


def test_the_home_is_where_the_user_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv(HOME, str(tmp_path / "own"))
    assert home() == tmp_path / "own"
    monkeypatch.delenv(HOME)
    if os.name == "posix":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
        assert home() == tmp_path / "xdg" / "mooring"
        monkeypatch.delenv("XDG_CONFIG_HOME")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert home() == tmp_path / ".config" / "mooring"
