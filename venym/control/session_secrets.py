"""Secrets: from a file among systemd's credentials, or else from the environment; shown to nobody.

    inet.password ──▶ $CREDENTIALS_DIRECTORY/inet.password ──there?──▶ its text, without the end of its last line
                                                         └─ no ─▶ $INET_PASSWORD

A secret is no setting, so that no table of settings shows it. Not even its length is told.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from .errors import ConfigurationError

DIRECTORY = "CREDENTIALS_DIRECTORY"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*")


class Secret:
    """A text that neither `str` nor `repr` shows; name: of what."""

    __slots__ = ("_text", "name")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text

    def reveal(self) -> str:
        """For what is written to the peer, and nothing else."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({self.name})"

    def __reduce__(self) -> str | tuple[object, ...]:
        raise TypeError(f"{self!r} is not to be written anywhere")


def variable_of(name: str) -> str:
    """The environment variable of a secret: INET_PASSWORD of inet.password."""
    return re.sub(r"[.-]", "_", name).upper()


def secret(name: str, environment: Mapping[str, str]) -> Secret:
    """The secret of a name. Raises ConfigurationError, which says where it was looked for, if it is not there, cannot
    be read or is empty."""
    if not _NAME.fullmatch(name):
        raise ConfigurationError(f"{name!r} is no name of a secret: letters, digits, - and _ with dots between")
    folder = environment.get(DIRECTORY)
    path = Path(folder) / name if folder else None
    try:
        if path is not None and path.exists():
            return _checked(name, path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigurationError(f"secret {name}: {path}: {why}") from None  # what is not UTF-8 would be shown
    variable = variable_of(name)
    if variable not in environment:
        looked = path or f"${DIRECTORY}/{name} (${DIRECTORY} is not set)"
        raise ConfigurationError(f"secret {name}: neither {looked} nor ${variable} is there")
    return _checked(name, environment[variable], f"${variable}")


def _checked(name: str, text: str, where: str) -> Secret:
    text = text.removesuffix("\n").removesuffix("\r")
    if not text:
        raise ConfigurationError(f"secret {name}: {where} is empty")
    return Secret(name, text)
