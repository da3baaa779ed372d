"""What a Logon says to be believed: a user, a password, a signature over some of its fields.

    35=A|34=7|49=VENYM|52=...|56=INET|98=0|108=30|  553=user|554=password|  95=88|96=signature|
         └────────── text of the named fields, SOH between ──────────┘  sign, write ──┘

The number and time are signed that the Logon has, so that `write_message` asks for these fields when it writes it. A
secret is in no `Outgoing`, and appears first in the octets for the peer.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

from .errors import ConfigurationError
from .session_messages import Fields
from .session_secrets import Secret

USERNAME, PASSWORD, RAW_DATA_LENGTH, RAW_DATA = 553, 554, 95, 96
SIGNABLE = frozenset({34, 35, 49, 52, 56, 98, 108, USERNAME, PASSWORD})  # what every Logon of ours may have
SOH = "\x01"

Sign = Callable[[bytes], bytes]


def hmac_sha256(key: Secret, is_base64: bool = False) -> Sign:
    """HMAC-SHA256 with the octets of the key's text, or with those it is base64 of."""
    octets = _decoded(key) if is_base64 else key.reveal().encode()
    return lambda text: hmac.digest(octets, text, hashlib.sha256)


def ed25519(key: Secret) -> Sign:
    """Ed25519 with a private key in PEM, as `openssl genpkey -algorithm ed25519` writes it. Raises ConfigurationError
    for another key, and where the package `cryptography` is missing."""
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key
    except ImportError as error:
        raise ConfigurationError(
            f"Ed25519 needs the package cryptography (pip install 'venym[sign]'): {error}"
        ) from error
    try:
        private: Any = load_pem_private_key(key.reveal().encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None  # what is wrong is not told: it would quote the key
    if not isinstance(private, Ed25519PrivateKey):
        raise ConfigurationError(f"secret {key.name}: not an Ed25519 private key in PEM, without a passphrase")
    signed: Sign = private.sign
    return signed


def _decoded(key: Secret) -> bytes:
    try:
        return base64.b64decode(key.reveal(), validate=True)
    except binascii.Error:
        raise ConfigurationError(f"secret {key.name}: not base64") from None


def to_base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()


class Signature:
    """over: tags in the order in which their values are signed; written: how the signature becomes text."""

    def __init__(
        self,
        sign: Sign,
        over: tuple[int, ...],
        separator: str = SOH,
        written: Callable[[bytes], str] = to_base64,
    ) -> None:
        if not over or not set(over) <= SIGNABLE:
            wrong = sorted(set(over) - SIGNABLE) or "nothing"
            raise ConfigurationError(f"a Logon's signature over {wrong}: it may be over {sorted(SIGNABLE)}")
        self._sign = sign
        self.over = over
        self._separator = separator
        self._written = written

    def of(self, said: Mapping[int, str]) -> str:
        """The signature of a Logon with these fields."""
        text = self._separator.join(said[tag] for tag in self.over)
        return self._written(self._sign(text.encode("latin-1")))


class Signer:
    """The fields that go at the end of a Logon. Raises ConfigurationError for what a field cannot hold."""

    def __init__(self, username: str = "", password: Secret | None = None, signature: Signature | None = None) -> None:
        self._username = username
        self._password = password
        self._signature = signature
        for name, text in (("username", username), (f"secret {password}", password.reveal() if password else "")):
            if SOH in text or not text.isascii():
                raise ConfigurationError(f"{name}: holds what is not ASCII, or SOH")
        for tag, told in ((USERNAME, bool(username)), (PASSWORD, password is not None)):
            if signature is not None and tag in signature.over and not told:
                raise ConfigurationError(f"a Logon's signature over {tag}, which is not given")

    def __call__(self, said: Mapping[int, str]) -> Fields:
        """said: the fields of the Logon so far, by tag, from MsgType on, as they will be written."""
        fields: Fields = ((USERNAME, self._username),) if self._username else ()
        if self._password is not None:
            fields += ((PASSWORD, self._password.reveal()),)
        if self._signature is not None:
            text = self._signature.of({**said, **dict(fields)})
            fields += ((RAW_DATA_LENGTH, str(len(text))), (RAW_DATA, text))
        return fields
