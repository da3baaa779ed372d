"""From settings to what the pipeline is built of: strategies and a model loaded, sessions, limits and instruments.

Nothing here runs anything. What is wrong with a file is told by the error of whoever reads it.
"""

from datetime import UTC, date, datetime

from .. import pipeline
from ..models.artifact import load as load_model
from ..models.model import Model
from ..stages import feature_table, gateway, risk, strategy
from ..stages.inbound import make_session
from ..strategies.load import load
from ..venue import memory as venue
from ..wire.fix_encode import CANCEL, NEW_ORDER, REPLACE, Template, TemplateError, make_template
from .errors import ConfigurationError
from .settings import Settings, Strategy

MS_NS = 1_000_000
DOLLAR_E6 = 1_000_000


def model_of(settings: Settings) -> Model | None:
    """The model that the strategies name, or None. Raises ModelError."""
    if settings.model is None:
        return None
    return load_model(settings.model, feature_table.names(), feature_table.schema_hash())


def midnight_ns(day: date) -> int:
    """00:00 of the session's date, as the exchange's clock and as if that were UTC: what tags 52 and 60 count from."""
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1_000_000_000


def trading_of(settings: Settings, day: date) -> pipeline.Trading:
    """All that the order side is built of. Raises StrategyError for a file that is no strategy, ConfigurationError."""
    symbols = [instrument.symbol for instrument in settings.instruments]
    tables = settings.gateway
    if tables.requests_max < tables.orders_max:
        raise ConfigurationError(
            f"gateway.requests_max ({tables.requests_max}) counts every order too: it is at least "
            f"gateway.orders_max ({tables.orders_max})"
        )
    return pipeline.Trading(
        strategies=[_assignment(held, symbols) for held in settings.strategies],
        instruments=[
            gateway.Instrument(held.symbol, held.fix_symbol, held.tick_e4, held.lot_shares)
            for held in settings.instruments
        ],
        session=_session(settings),
        limits=_risk_limits(settings),
        fees=gateway.Fees(make_e6=settings.fees.make_e6_share, take_e6=settings.fees.take_e6_share),
        tables=gateway.Tables(**{name: getattr(tables, name) for name in gateway.Tables._fields}),
        venue_session=_venue_session(settings),
        venue_limits=venue.Limits(**{name: getattr(settings.venue, name) for name in venue.Limits._fields}),
        order_latency_ns=settings.venue.order_latency_ns,
        report_latency_ns=settings.venue.report_latency_ns,
        midnight_ns=midnight_ns(day),
    )


def _assignment(held: Strategy, symbols: list[str]) -> strategy.Assignment:
    loaded = load(held.path)
    if held.timer_ms:
        loaded = loaded._replace(timer_ns=held.timer_ms * MS_NS)
    return strategy.Assignment(loaded, loaded.values(held.params), [symbols.index(name) for name in held.instruments])


def _risk_limits(settings: Settings) -> risk.RiskLimits:
    held = settings.risk
    return risk.RiskLimits(
        order_shares_max=held.order_shares_max,
        order_notional_max_e6=held.order_notional_dollars_max * DOLLAR_E6,
        position_shares_max=held.position_shares_max,
        gross_notional_max_e6=held.gross_notional_dollars_max * DOLLAR_E6,
        open_orders_max=held.open_orders_max,
        messages_per_second_max=held.messages_per_second_max,
        collar_bps=held.collar_bps,
        stale_ns=held.stale_ms * MS_NS,
        short_sales=int(held.short_sales),
        cancel_halted=int(held.cancel_halted),
        cancel_gapped=int(held.cancel_gapped),
    )


def _session(settings: Settings) -> gateway.Session:
    held = settings.session

    def template(kind: int) -> Template:
        return make_template(
            held.version,
            kind,
            held.sender,
            held.target,
            static=held.tags,
            market=held.market_tags,
            limit=held.limit_tags,
            post_only=held.post_only_tags,
            short=held.short_tags,
            cl_ord_id_prefix=held.cl_ord_id_prefix,
            decimals=held.time_decimals,
        )

    try:
        new, cancel, replace = (template(kind) for kind in (NEW_ORDER, CANCEL, REPLACE))
    except TemplateError as error:
        raise ConfigurationError(f"[session]: {error}") from error
    return make_session(new, cancel, replace, held.sender, held.target, held.cl_ord_id_prefix)


def _venue_session(settings: Settings) -> venue.Session:
    held = settings.session
    if len(held.post_only_tags) != 1:
        raise ConfigurationError("session.post_only_tags: the venue in memory knows a post-only order by one field")
    ((tag, value),) = held.post_only_tags.items()
    return venue.Session(held.version, held.sender, held.target, int(tag), value, held.time_decimals)
