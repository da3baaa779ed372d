"""What the tests of settings ask again and again."""

from pathlib import Path

import pytest

from venym.control.errors import ConfigurationError
from venym.control.resolve import Resolved, resolve
from venym.control.settings import Settings


def refusal(
    config: Path | None = None, options: tuple[str, ...] = (), environment: dict[str, str] | None = None
) -> list[str]:
    """The sentences that a configuration is refused with."""
    with pytest.raises(ConfigurationError) as caught:
        resolve(config, options, environment or {})
    return str(caught.value).splitlines()


def source(resolved: Resolved, name: str) -> tuple[str, str]:
    """Where a setting's value came from."""
    return next((row.kind, row.where) for row in resolved.table if row.name == name)


def resolved_text(folder: Path, text: str) -> Settings:
    """The settings of a configuration file with this text."""
    path = folder / "venym.toml"
    path.write_text(text)
    return resolve(path, (), {}).settings
