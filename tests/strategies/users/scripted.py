"""A strategy that does as its signals say: y = command, token, side, shares, price_e4, argument, addressee.

It keeps a digest of all it is shown, so that who is shown something else comes to another state.
"""

import numpy as np

from venym.strategies.interface import (
    IOC,
    LIMIT,
    at_market,
    cancel,
    hot,
    ioc,
    kill,
    limit,
    new_order,
    post,
    replace,
    small,
)

PARAMS = {"me": 0, "execution_kind": 0, "execution_does": 0, "timer_does": 0}
ME, EXECUTION_KIND, EXECUTION_DOES, TIMER_DOES = range(len(PARAMS))
TIMER_NS = 1_000_000

# Commands; also what `execution_does` on the kind of event of `execution_kind`, and `timer_does`.
(NOTHING, LIMITS, CANCELS, REPLACES, RAISES, FLOODS, ELSEWHERE, KILLS, UNCOUNTS, JUNK, IOCS, POSTS, AT_MARKET,
 RAISES_AFTER_ASKING, ASKS_ANY) = range(15)  # fmt: skip

# Words of the state.
DIGEST, DECIDED, EXECUTED, TIMED, LAST_KIND, LAST_REASON, LAST_CLOCK = range(7)


def decide(params, state, market, signal, orders, position, intents):
    state.whole[DECIDED] += 1
    state.real[0] += signal.y[5]
    look(state, market, orders, position)
    if signal.y[6] == 0 or signal.y[6] == params[ME]:
        act(intents, signal.y[0], signal.y[1], signal.y[2], signal.y[3], signal.y[4], signal.y[5])


def on_execution(params, state, execution, market, orders, position, intents):
    state.whole[EXECUTED] += 1
    state.whole[LAST_KIND] = execution.kind
    state.whole[LAST_REASON] = execution.reason
    state.whole[LAST_CLOCK] = execution.clock_ns
    digest(state, execution.token)
    digest(state, execution.last_shares)
    look(state, market, orders, position)
    if execution.kind == params[EXECUTION_KIND]:
        act(intents, params[EXECUTION_DOES], execution.token + 1, 1, 7, 10_100, 0)


def on_timer(params, state, clock_ns, market, orders, position, intents):
    state.whole[TIMED] += 1
    state.whole[LAST_CLOCK] = clock_ns
    look(state, market, orders, position)
    act(intents, params[TIMER_DOES], 1_000 + state.whole[TIMED], 2, 5, 10_000, 0)


@small
def digest(state, value):
    state.whole[DIGEST] = (state.whole[DIGEST] * 31 + value) % 1_000_003


@hot
def look(state, market, orders, position):
    digest(state, market.ordinal)
    for order in orders:
        digest(state, order.token)
        digest(state, order.leaves_shares * 7 + order.filled_shares)
        digest(state, order.price_e4 + order.pending_shares + 3 * order.pending_price_e4)
        digest(state, np.int64(order.pending) * 16 + np.int64(order.side) * 4 + order.acknowledged)
    digest(state, position.shares)
    digest(state, position.open_buy_shares * 3 + position.open_sell_shares)
    digest(state, position.cash_e6 + position.fees_e6)


@hot
def act(intents, command, token, side, shares, price_e4, argument):
    if command == LIMITS:
        limit(intents, token, side, shares, price_e4)
    elif command == CANCELS:
        cancel(intents, token)
    elif command == REPLACES:
        replace(intents, token, shares, price_e4)
    elif command == RAISES:
        raise ValueError("as told")
    elif command == FLOODS:
        for k in range(int(argument)):
            limit(intents, token + k, side, shares, price_e4)
    elif command == ELSEWHERE:
        limit(intents, token, side, shares, price_e4)
        intents.slots[intents.count[0] - 1].instrument = int(argument)
    elif command == KILLS:
        kill(intents)
    elif command == UNCOUNTS:
        intents.count[0] = -5
    elif command == JUNK:
        slot = intents.slots[0]  # all by hand, and what is the stage's to say, falsely
        slot.action, slot.token, slot.side, slot.shares, slot.price_e4 = int(argument), int(token), 77, -3, 1 << 40
        slot.strategy, slot.clock_ns, slot.cause, slot.ordinal, slot.reason = 99, 1, 98, 97, 96
        slot.taken_cycles, slot.begun_cycles, slot.decided_cycles = 95, 94, 93
        intents.count[0] = 1
    elif command == IOCS:
        ioc(intents, token, side, shares, price_e4)
    elif command == POSTS:
        post(intents, token, side, shares, price_e4)
    elif command == AT_MARKET:
        at_market(intents, token, side, shares)
    elif command == RAISES_AFTER_ASKING:
        limit(intents, token, side, shares, price_e4)
        intents.slots[0].instrument = 55
        raise ValueError("too late")
    elif command == ASKS_ANY:
        new_order(intents, token, side, shares, price_e4, LIMIT if argument == 0 else argument, IOC, argument)
