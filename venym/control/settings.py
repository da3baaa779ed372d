"""READ FIRST of the control plane: every setting there is, its type, limits, unit and default.

    [section]                  a class below                       [[strategies]]    an entry of a list: a class below
    key = value                a field of it                       key = value

The same setting is ``section.key`` to ``--set`` and ``VENYM_SECTION__KEY`` in the environment; that of an entry is
``strategies.NAME.key`` or ``strategies[0].key`` to ``--set``. `resolve` reads all of them. Units stand last in the
names. Nothing here is clamped: a value outside its limits is refused.
"""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from .values import (
    DAY_MS,
    Decimals,
    Dollars,
    Endpoint,
    EndpointOrNone,
    Entries,
    FeeE6,
    FixText,
    Flag,
    Folder,
    FolderOrNone,
    Interface,
    LatencyNs,
    LineAddress,
    LineAddressOrNone,
    Milliseconds,
    ModelFile,
    Name,
    Params,
    PowerOfTwo,
    Prefix,
    SourceAddress,
    Speed,
    StrategyFile,
    Symbol,
    Symbols,
    Tags,
    When,
    path_of,
)

FRAMES_OCTETS_MIN = 1_048_576  # what the capture reader needs: a record, its packet and room to read on
STRATEGIES_MAX = 8  # slots of the compiled loop
OPEN_ORDERS_MAX = 32  # rows of a strategy's table of working orders, for one instrument


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
    queues: Flag = Field(
        default=True, description="keep each order's place in its queue; false: prices, shares and order counts only"
    )


class Memory(Section):
    """How memory is held. auto: where the machine allows; always: refuse to start without."""

    huge_pages: When = Field(default="auto", description="back the tables with 2 MiB pages")
    lock: When = Field(default="auto", description="lock the tables in memory")


class Runtime(Section):
    """Buffers, and where compiled code is kept."""

    cache_dir: FolderOrNone = Field(
        default=None,
        description='folder for compiled code; "" is $NUMBA_CACHE_DIR, else $XDG_CACHE_HOME/venym or ~/.cache/venym',
    )
    frames_octets: Annotated[int, Field(strict=True, ge=FRAMES_OCTETS_MIN, le=2**40)] = Field(
        default=16_777_216, description="octets of packets held between feed and decoder"
    )


class Feed(Section):
    """How the lines of the channels are received."""

    source: Literal["udp", "xdp"] = Field(default="udp", description="udp: sockets; xdp: AF_XDP")
    interface: Interface = Field(
        default="", description='of lines that name none; "" leaves it to the system\'s routes (udp only)'
    )
    stamps: Literal["software", "hardware", "none"] = Field(
        default="software",
        description="who stamps a packet's arrival: software (the kernel), hardware (the card), none",
    )
    busy_poll_us: Annotated[int, Field(strict=True, ge=0, le=1_000_000)] = Field(
        default=0, description="SO_BUSY_POLL of the sockets; 0 is off"
    )
    receive_buffer_octets: Annotated[int, Field(strict=True, ge=4_096, le=2**30 - 1)] = Field(
        default=33_554_432, description="what the kernel holds for a line"
    )
    slots: Annotated[PowerOfTwo, Field(le=2**24)] = Field(
        default=16_384, description="packets held at once, over all lines"
    )
    slot_octets: Annotated[PowerOfTwo, Field(ge=64, le=65_536)] = Field(
        default=2_048, description="the longest packet; a longer one is counted, and missing"
    )
    xdp_mode: Literal["native", "generic", "auto"] = Field(
        default="native",
        description="xdp: native, generic, auto: in the driver, in the kernel, or whichever can be had",
    )
    zero_copy: When = Field(default="auto", description="xdp: frames without a copy; auto: where the driver can")
    xdp_helper: FolderOrNone = Field(
        default=None, description='xdp: socket of a helper that hands over the program; "" makes it here'
    )
    fall_back: Flag = Field(default=False, description="receive by udp where xdp is refused")


class Recovery(Section):
    """How messages that neither line brought are got back."""

    start: Literal["beginning", "snapshot", "now"] = Field(
        default="beginning",
        description="how a channel is joined: beginning (from message 1), snapshot, now (books suspect)",
    )
    stale_gate: Flag = Field(
        default=True, description="no new order in the instruments of a channel from a gap's first sight to its fill"
    )
    held_packets_max: Annotated[int, Field(strict=True, ge=1, le=2**24)] = Field(
        default=65_536, description="packets of a channel held back behind what is missing"
    )
    wait_us: Annotated[int, Field(strict=True, ge=0, le=10**9)] = Field(
        default=1_000, description="left to the other line to bring it, before it is asked for"
    )
    timeout_ms: Milliseconds = Field(default=100, description="of a request; then another server is asked")
    attempts_max: Annotated[int, Field(strict=True, ge=1, le=1_000)] = Field(
        default=5, description="requests for the same messages, before they are given up"
    )
    give_up_ms: Milliseconds = Field(
        default=5_000, description="after that, a snapshot is taken where there is one, or messages are given up"
    )
    outstanding_max: Annotated[int, Field(strict=True, ge=1, le=65_536)] = Field(
        default=16, description="requests of a channel without an answer at any time"
    )
    requests_per_second_max: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = Field(
        default=5_000, description="requests of a channel"
    )
    request_messages_max: Annotated[int, Field(strict=True, ge=1, le=65_534)] = Field(
        default=1_000, description="messages that one request asks for"
    )
    snapshot_attempts_max: Annotated[int, Field(strict=True, ge=1, le=1_000)] = Field(
        default=3, description="snapshots tried, before messages are given up"
    )


class Run(Section):
    """`venym run`."""

    plan: Literal["auto", "fused", "split2", "dedicated"] = Field(
        default="auto", description="which stages share a core: auto, fused, split2, dedicated"
    )
    cpus: Annotated[str, Field(strict=True, pattern=r"^([0-9]{1,5}(,[0-9]{1,5})*)?$")] = Field(
        default="", description='processors that the cores are pinned to, such as "2,3"; "" chooses'
    )
    silence_ms: Milliseconds = Field(default=3_000, description="a line from which so long nothing came is told of")
    report_seconds: Annotated[int, Field(strict=True, ge=0, le=86_400)] = Field(
        default=10, description="between two lines about what came; 0 is never"
    )


class Session(Section):
    """The FIX session that orders go out on. A table of tags adds fields to orders: { 15 = "USD" } writes 15=USD."""

    version: Literal["FIX.4.2", "FIX.4.4"] = Field(default="FIX.4.2", description="FIX.4.2 or FIX.4.4")
    sender: FixText = Field(default="VENYM", description="SenderCompID of what is sent")
    target: FixText = Field(default="VENUE", description="TargetCompID of what is sent")
    cl_ord_id_prefix: Prefix = Field(default="", description="what stands before the number in a ClOrdID")
    time_decimals: Decimals = Field(default=3, description="decimals of the second in tags 52 and 60: 0, 3, 6 or 9")
    tags: Tags = Field(default={}, description="fields of every message")
    market_tags: Tags = Field(default={}, description="further fields of market orders")
    limit_tags: Tags = Field(default={}, description="further fields of limit orders")
    post_only_tags: Tags = Field(default={18: "6"}, description="further fields of post-only orders")
    short_tags: Tags = Field(default={}, description="further fields of short sales")


class Risk(Section):
    """What the gateway lets out, for all strategies together where nothing else is said. What is over a limit is
    refused, by name, and the strategy is told."""

    order_shares_max: Entries = Field(default=1_000, description="shares of one order")
    order_notional_dollars_max: Dollars = Field(default=250_000, description="shares times price of one order")
    position_shares_max: Entries = Field(
        default=1_000, description="position in an instrument, either way, were all open orders in it filled"
    )
    gross_notional_dollars_max: Dollars = Field(
        default=1_000_000, description="positions and open orders, over all strategies and instruments"
    )
    collar_bps: Annotated[int, Field(strict=True, ge=0, le=10_000)] = Field(
        default=100, description="how far beyond the other side's best price a limit may lie, in 1/100 of a percent"
    )
    messages_per_second_max: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = Field(
        default=100, description="messages in any second; cancels count and are never refused"
    )
    open_orders_max: Annotated[int, Field(strict=True, ge=1, le=OPEN_ORDERS_MAX)] = Field(
        default=32, description="open orders of a strategy in an instrument; at most 32"
    )
    stale_ms: Milliseconds = Field(default=60_000, description="silence of the market from which on no order goes out")
    short_sales: Flag = Field(default=True, description="may a strategy sell what it does not have?")
    cancel_halted: Flag = Field(default=True, description="cancel what is open in an instrument that stops trading")
    cancel_gapped: Flag = Field(
        default=True, description="cancel what is open in the instruments of a channel that misses messages"
    )


class Fees(Section):
    """What the venue charges a share, in 1e-6 dollars; a rebate is negative."""

    take_e6_share: FeeE6 = Field(default=3_000, description="of an order that met a resting one")
    make_e6_share: FeeE6 = Field(default=-2_000, description="of an order that rested")


class Gateway(Section):
    """The gateway's tables."""

    orders_max: Entries = Field(default=262_144, description="orders a day; one more is refused")
    requests_max: Entries = Field(
        default=1_048_576, description="messages a day: new orders, replaces, cancels; the last ones are for cancels"
    )
    executions_max: Entries = Field(default=1_048_576, description="executions a day; one more is a kill")


class Venue(Section):
    """The venue in memory that `venym replay` sends its orders to."""

    order_latency_ns: LatencyNs = Field(default=20_000, description="from the gateway to the venue, at least 1")
    report_latency_ns: LatencyNs = Field(default=20_000, description="from the venue to the gateway, at least 1")
    channels_max: Entries = Field(default=8, description="sequenced streams of messages")
    displayed_max: Entries = Field(
        default=1_048_576, description="the market's orders alive at once, in our instruments"
    )
    levels_max: Entries = Field(default=262_144, description="its price levels alive at once")
    side_levels_max: Entries = Field(default=16_384, description="price levels of one side of a book")
    orders_max: Entries = Field(default=262_144, description="our orders a day; one more is rejected")
    ids_max: Entries = Field(default=1_048_576, description="our ClOrdIDs a day; one more is rejected")


class Replay(Section):
    """`venym replay`."""

    plan: Literal["auto", "fused", "split2", "dedicated"] = Field(
        default="auto",
        description="which stages share a core: auto, fused, split2, dedicated; changes speed, never results",
    )
    speed: Speed = Field(
        default="max",
        description="max: as fast as it goes; realtime; or seconds of exchange time a second, such as 0.1",
    )
    settle_ms: Milliseconds = Field(default=1_000, description="exchange time that goes on after the last message")
    runs_dir: Folder = Field(
        default=Path("runs"), description="where run directories are made; relative to the folder venym is started in"
    )


class Channel(Section):
    """A sequenced stream of messages, and the one or two lines that carry it."""

    name: Name = Field(description="of your choice")
    line_a: LineAddress = Field(description="group:port, or an own address:port")
    line_b: LineAddressOrNone = Field(default="", description='the second line; "" is none')
    interface_a: Interface = Field(default="", description='network interface; "" is feed.interface')
    interface_b: Interface = Field(default="", description="the same of line B")
    source_a: SourceAddress = Field(default="", description='take packets of this sender only; "" is any')
    source_b: SourceAddress = Field(default="", description="the same of line B")
    rerequest: tuple[Endpoint, ...] = Field(
        default=(), description="host:port of re-request servers, first choice first"
    )
    glimpse: EndpointOrNone = Field(default="", description='host:port of the snapshot server; "" is none')
    username: Annotated[str, Field(strict=True, pattern=r"^[ -~]*$", max_length=6)] = Field(
        default="", description="at the snapshot server"
    )


class Instrument(Section):
    """An instrument that orders may be sent for. One that a strategy names is there at these defaults anyhow."""

    symbol: Symbol = Field(description="as the feed has it")
    fix_symbol: Symbol = Field(default="", validate_default=False, description="tag 55; the symbol if left out")
    tick_e4: Entries = Field(default=100, description="prices are multiples of this many 1e-4 dollars")
    lot_shares: Entries = Field(default=1, description="orders are multiples of this many shares")

    @model_validator(mode="before")
    @classmethod
    def _same_symbol(cls, given: Any) -> Any:
        if isinstance(given, dict) and "symbol" in given and "fix_symbol" not in given:
            return given | {"fix_symbol": given["symbol"]}
        return given


class Strategy(Section):
    """A strategy and what it trades."""

    name: Name = Field(description="of your choice")
    file: StrategyFile = Field(
        description="Python source, relative to this file; venym:NAME is an example inside the package"
    )
    instruments: Symbols = Field(description="symbols it trades")
    model: ModelFile = Field(
        default="", description='a model file, relative to this file; "" is none; one model for all strategies'
    )
    params: Params = Field(default={}, description="numbers for its PARAMS")
    timer_ms: Annotated[int, Field(strict=True, ge=0, le=DAY_MS)] = Field(
        default=0, description="exchange time between two calls of on_timer(); 0 is the file's TIMER_NS"
    )

    @property
    def path(self) -> Path:
        """The file itself, wherever `file` says it is."""
        return path_of(self.file)


class Settings(BaseSettings):
    """All settings, resolved once at start and never changed. Only `resolve` gives values: constructing it alone reads
    neither the environment nor an ``.env`` file."""

    model_config = SettingsConfigDict(extra="forbid", frozen=True)

    book: Book = Book()
    memory: Memory = Memory()
    runtime: Runtime = Runtime()
    feed: Feed = Feed()
    recovery: Recovery = Recovery()
    run: Run = Run()
    session: Session = Session()
    risk: Risk = Risk()
    fees: Fees = Fees()
    gateway: Gateway = Gateway()
    venue: Venue = Venue()
    replay: Replay = Replay()
    channels: tuple[Channel, ...] = ()
    instruments: tuple[Instrument, ...] = ()
    strategies: tuple[Strategy, ...] = ()

    @property
    def model(self) -> Path | None:
        """The one model file that strategies name, if any does."""
        return next((Path(strategy.model) for strategy in self.strategies if strategy.model), None)

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


LISTS: dict[str, type[Section]] = {"channels": Channel, "instruments": Instrument, "strategies": Strategy}
LABELS = {"channels": "name", "instruments": "symbol", "strategies": "name"}  # the key that an entry is known by


def sections() -> dict[str, type[Section]]:
    """The class of each section, in order."""
    return {
        name: field.annotation  # type: ignore[misc]
        for name, field in Settings.model_fields.items()
        if name not in LISTS
    }
