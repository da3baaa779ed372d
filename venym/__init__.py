"""venym: exchange packets in, orders out.

    packets           book events         feature rows        signals
    feed ───────────▶ decoder ──────────▶ features ─────────▶ inference ─────▶ (strategy, gateway)
    captures, day     MoldUDP64, ITCH,    28 of them          linear models,
    files             every order book                        trees

Glossary, in the field's own words:

    book          the resting orders of one instrument, by side, price and time
    level         the orders of one side at one price, first in first out
    locate        the number ITCH gives an instrument for the day
    channel       one sequenced stream of messages (a MoldUDP64 session at a time)
    line          one of the two copies of a channel on the network; here, a destination address and port
    claim/commit  how a producer fills and publishes the slots of a link
    peek/release  how a consumer reads them and gives them back
    suspect       a book to which a modification did not fit, or that missed messages
"""

__version__ = "0.1.0"
