"""READ FIRST of the control plane: every setting there is, its type, limits, unit and default.

    [section]                  a class below
    key = value                a field of it

The same setting is ``section.key`` to ``--set`` and ``VENYM_SECTION__KEY`` in the environment; `resolve` reads all
three. Units stand last in the names. Nothing here is clamped: a value outside its limits is refused.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

LARGEST_INDEX = 2**31 - 1  # tables are indexed with 32 bits
FRAMES_OCTETS_MIN = 1_048_576  # what the capture reader needs: a record, its packet and room to read on

Entries = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INDEX)]
When = Literal["auto", "never", "always"]


def _folder(given: Any) -> Any:
    """TOML has no null: an empty text is no folder."""
    if given == "":
        return None
    if isinstance(given, str):
        if "\0" in given:
            raise ValueError("a path has no zero byte")
        try:
            return Path(given).expanduser()
        except RuntimeError as error:  # ~somebody
            raise ValueError(str(error)) from error
    return given


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Book(Section):
    """The order books. Memory for all of it is taken at the start; reaching a maximum is an error, never a silent
    loss."""

    orders_max: Entries = Field(default=4_194_304, description="orders alive at once, over all books")
    levels_max: Entries = Field(
        default=4_194_304, description="price levels alive at once, over all books and both sides"
    )
    instruments_max: Entries = Field(default=65_536, description="books, over all channels")
    trades_max: Entries = Field(default=16_777_216, description="executions a day that a broken trade may refer to")
    channels_max: Entries = Field(default=8, description="sequenced streams of messages")
    queues: Annotated[bool, Field(strict=True)] = Field(
        default=True, description="keep each order's place in its queue; false: prices, shares and order counts only"
    )


class Memory(Section):
    """How memory is held. auto: where the machine allows; always: refuse to start without."""

    huge_pages: When = Field(default="auto", description="back the tables with 2 MiB pages")
    lock: When = Field(default="auto", description="lock the tables in memory")


class Runtime(Section):
    """Buffers, and where compiled code is kept."""

    cache_dir: Annotated[Path | None, BeforeValidator(_folder)] = Field(
        default=None,
        description='folder for compiled code; "" is $NUMBA_CACHE_DIR, else $XDG_CACHE_HOME/venym or ~/.cache/venym',
    )
    frames_octets: Annotated[int, Field(strict=True, ge=FRAMES_OCTETS_MIN, le=2**40)] = Field(
        default=16_777_216, description="octets of packets held between feed and decoder"
    )


class Settings(BaseSettings):
    """All settings, resolved once at start and never changed. Only `resolve` gives values: constructing it alone reads
    neither the environment nor an ``.env`` file."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    book: Book = Book()
    memory: Memory = Memory()
    runtime: Runtime = Runtime()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return (init_settings,)  # its own sources drop what they do not know; resolve reads them and refuses that


def sections() -> dict[str, type[Section]]:
    """The class of each section, in order."""
    return {name: field.annotation for name, field in Settings.model_fields.items()}  # type: ignore[misc]
