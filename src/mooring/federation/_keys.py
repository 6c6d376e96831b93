"""Who somebody is: an Ed25519 key, made on first use, that never leaves the machine."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from nacl.signing import SigningKey

from mooring.errors import FederationError

HOME = "MOORING_HOME"
PRIVATE = "private.key"
SEED = 32  # bytes


def home() -> Path:
    """Where a user's key, approvals and log lie: MOORING_HOME, else the folder for settings of this system."""
    folder = os.environ.get(HOME)
    if folder:
        return Path(folder)
    if os.name == "nt":
        base = os.environ.get("APPDATA")
        return (Path(base) if base else Path.home() / "AppData" / "Roaming") / "mooring"
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "mooring"


@dataclass(frozen=True)
class Identity:
    """A private key and where it lies."""

    key: SigningKey
    path: Path
    is_new: bool = False

    @cached_property
    def public(self) -> str:
        """What others may know: 64 hexadecimal digits."""
        return bytes(self.key.verify_key).hex()


def fingerprint(public: str) -> str:
    """A key as people read it to each other: 4 groups of 4 digits."""
    return "-".join(public[at : at + 4] for at in range(0, 16, 4))


def own_identity(folder: Path | None = None) -> Identity:
    """The key of this user; made when it is asked for the first time, readable by nobody else."""
    path = (folder or home()) / PRIVATE
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            return Identity(made_at(path), path, is_new=True)
        text = path.read_bytes()
    except FileExistsError:  # another command of this user was faster
        text = path.read_bytes()
    except OSError as error:
        raise FederationError(
            f"{path}: the private key cannot be used ({error.strerror})", f"mend it, or set {HOME} to another folder"
        ) from None
    try:
        seed = bytes.fromhex(text.decode("ascii").strip())
        return Identity(SigningKey(seed), path)
    except (ValueError, TypeError):
        raise FederationError(
            f"{path}: is not a private key", "restore it from a backup, or remove it to get a new one"
        ) from None


def made_at(path: Path) -> SigningKey:
    """A new key, written whole and only for its owner; never over an older one."""
    key = SigningKey.generate()
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(bytes(key).hex().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # fails where a rename would replace a key
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        path.write_bytes(draft.read_bytes())
        path.chmod(0o600)
    finally:
        draft.unlink()
    return key
