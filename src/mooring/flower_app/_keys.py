"""Certificates and keys for a federation on machines of one's own: TLS for the SuperLink, a key for every SuperNode.

    ca.crt                       whom everybody trusts
    superlink.crt, .key          the SuperLink's certificate
    north/key, key.pub           a SuperNode's key (ECDSA P-384): the first stays there, the second is registered
    coordinator.pub              the public key of whoever runs this: jobs that it signed are approved by the sites
    home/config.toml             the SuperLink's address, for `flwr` with FLWR_HOME=.../home

They are for a test federation: the key that signed the certificates is thrown away.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from mooring.errors import FederationError, needed
from mooring.federation import check_sites, own_identity
from mooring.record import write_atomically

DAYS = 365
CONNECTION = "mooring"  # the name of the SuperLink in `flwr run . mooring`


@dataclass(frozen=True)
class FederationKeys:
    """What was written, and where."""

    folder: Path
    sites: tuple[str, ...]

    @property
    def home(self) -> Path:
        return self.folder / "home"


def make_keys(folder: Path, sites: Sequence[str], host: str = "127.0.0.1", port: int = 8000) -> FederationKeys:
    """A new certificate authority, the SuperLink's certificate for `host`, and a key for every site."""
    needed("cryptography", "flower")
    check_sites(sites)
    if folder.exists() and any(folder.iterdir()):
        raise FederationError(f"{folder}: is not empty", "choose another folder: keys are never written over")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    authority, own = new_key(), new_key()
    write_atomically(folder / "ca.crt", pem(certificate("mooring test federation", authority, authority, ())))
    write_atomically(folder / "superlink.crt", pem(certificate(host, own, authority, {host, "localhost", "127.0.0.1"})))
    private(folder / "superlink.key", private_pem(own))
    for site in sites:
        key = new_key()
        (folder / site).mkdir(mode=0o700)
        private(folder / site / "key", openssh(key))
        write_atomically(folder / site / "key.pub", openssh_public(key))
    write_atomically(folder / "coordinator.pub", own_identity().public.encode())
    made = FederationKeys(folder, tuple(sites))
    made.home.mkdir()
    certificates = (folder / "ca.crt").absolute().as_posix()
    config = f'[superlink]\ndefault = "{CONNECTION}"\n\n[superlink.{CONNECTION}]\n'
    config += f'address = "{host}:{port}"\nroot-certificates = "{certificates}"\n'
    write_atomically(made.home / "config.toml", config.encode())
    return made


def new_key() -> Any:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP384R1())


def certificate(name: str, key: Any, signer: Any, hosts: set[str] | tuple[()]) -> Any:
    """Of the authority itself, which has no hosts, or signed by it."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA384
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "mooring test federation")])
    now = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=DAYS))
        .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
        .add_extension(usage(signs=not hosts), critical=True)
    )
    if hosts:
        names = x509.SubjectAlternativeName([alternative(host) for host in sorted(hosts)])
        built = built.add_extension(names, critical=False)
        built = built.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    return built.sign(signer, SHA384())


def usage(signs: bool) -> Any:
    """An authority signs certificates; a server signs what it says."""
    from cryptography import x509

    off = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "encipher_only", "decipher_only"), False
    )
    return x509.KeyUsage(digital_signature=not signs, key_agreement=False, key_cert_sign=signs, crl_sign=signs, **off)


def alternative(host: str) -> Any:
    from cryptography import x509

    try:
        return x509.IPAddress(ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def pem(made: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding

    data: bytes = made.public_bytes(Encoding.PEM)
    return data


def private_pem(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    data: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return data


def openssh(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    data: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    return data


def openssh_public(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    data: bytes = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return data


def private(path: Path, data: bytes) -> None:
    """For its owner alone, from the first byte on."""
    path.touch(mode=0o600)
    path.write_bytes(data)
