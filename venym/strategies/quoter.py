"""Quotes both sides: an order to buy below the microprice and one to sell above it, moved when the price moves.

The more it holds, the lower it quotes, and at its limit one side only. When the book cannot be traded on, it cancels.
It needs no model.
"""

from venym.strategies.interface import (
    BUY,
    SELL,
    ask_e4,
    bid_e4,
    cancel,
    first,
    microprice_e4,
    new_token,
    post,
    replace,
    round_down,
    round_up,
    small,
    tradable,
)

PARAMS = {
    "shares": 100,  # a side
    "half_spread_e4": 50,  # from the microprice to each quote, at least
    "skew_e4": 25,  # both quotes are lowered by this for each `shares` held
    "position_max": 500,  # shares, long or short
    "tick_e4": 100,
}
SHARES, HALF_SPREAD_E4, SKEW_E4, POSITION_MAX, TICK_E4 = range(len(PARAMS))


def decide(params, state, market, signal, orders, position, intents):
    shares, tick_e4 = params[SHARES], params[TICK_E4]
    buy_e4, sell_e4 = 0.0, 0.0  # 0: no quote
    if tradable(market):
        centre_e4 = microprice_e4(market) - params[SKEW_E4] * position.shares / shares
        if position.shares + shares <= params[POSITION_MAX]:
            buy_e4 = min(round_down(centre_e4 - params[HALF_SPREAD_E4], tick_e4), bid_e4(market))
        if position.shares - shares >= -params[POSITION_MAX]:
            sell_e4 = max(round_up(centre_e4 + params[HALF_SPREAD_E4], tick_e4), ask_e4(market))
    quote(state, orders, intents, BUY, shares, buy_e4)
    quote(state, orders, intents, SELL, shares, sell_e4)


@small
def quote(state, orders, intents, side, shares, price_e4):
    """One order of a side at this price, or none at 0. While a request is not answered, nothing new is asked."""
    at = first(orders, side)
    if at < 0:
        if price_e4 > 0:
            post(intents, new_token(state), side, shares, price_e4)
    elif orders[at].pending == 0:
        if price_e4 <= 0:
            cancel(intents, orders[at].token)
        elif price_e4 != orders[at].price_e4:
            replace(intents, orders[at].token, orders[at].shares, price_e4)
