"""Takes what is offered when the model sees the price move: buys at the ask, sells at the bid, one order at a time.

What does not trade at once is canceled, so nothing ever rests. Without a model it does nothing.
"""

from venym.strategies.interface import BUY, SELL, ask_e4, bid_e4, ioc, new_token, tradable

PARAMS = {
    "threshold": 0.5,  # of the model's first output, the move it predicts, in the model's own unit
    "shares": 100,  # an order
    "position_max": 500,  # shares, long or short
}
THRESHOLD, SHARES, POSITION_MAX = range(len(PARAMS))


def decide(params, state, market, signal, orders, position, intents):
    if signal.ready != 1 or not tradable(market) or len(orders) > 0:
        return
    move, shares = signal.y[0], params[SHARES]
    if move > params[THRESHOLD] and position.shares + shares <= params[POSITION_MAX]:
        ioc(intents, new_token(state), BUY, shares, ask_e4(market))
    elif move < -params[THRESHOLD] and position.shares - shares >= -params[POSITION_MAX]:
        ioc(intents, new_token(state), SELL, shares, bid_e4(market))
