"""The options of ``venym publish``."""

import argparse
from pathlib import Path

from .option_types import at_least, outage, probabilities, probability, seconds, session_name


def publish_arguments(parser: argparse.ArgumentParser) -> None:
    """Add them."""
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", type=Path, help="captures or day files, one stream in order")
    add("--channel", metavar="NAME", help="of the settings; the first if left out")
    add("--speed", metavar="max|realtime|N", default="realtime", help="recorded time a second (realtime)")
    add("--rate", metavar="N", type=at_least(1), help="messages a second, instead of --speed")
    add("--messages-per-packet", metavar="N", type=at_least(1), help="of a day file")
    add("--session", metavar="S", type=session_name, help="up to 10 characters, instead of the files' own")
    _impairment_arguments(parser)
    add("--wait", metavar="SECONDS", type=seconds, default=0.0, help="of heartbeats first (0)")
    add("--linger", metavar="SECONDS", type=seconds, default=5.0, help="serve on after the last packet (5)")
    add("--interface", metavar="NAME", help="network interface of both lines, instead of the channel's")
    add("--ttl", metavar="N", type=at_least(0), default=1, help="of multicast (1)")
    add("--no-servers", action="store_true", help="lines only")
    add("--dead", metavar="HOST:PORT", action="append", default=[], help="a server that says nothing; may be repeated")
    add("--rerequest-delay-ms", metavar="N", type=at_least(0), default=0, help="before each answer (0)")
    add("--rerequest-rate", metavar="N", type=at_least(1), help="requests a second that are answered")
    add("--glimpse-rate", metavar="N", type=at_least(1), help="octets a second of a snapshot")
    add("--json", action="store_true", help="the result as JSON instead of a summary")


def _impairment_arguments(parser: argparse.ArgumentParser) -> None:
    on_lines = "P, or P,P for lines a and b"
    for name, words in (
        ("loss", "probability that a line loses a packet"),
        ("duplicate", "that it carries it twice"),
        ("reorder", "that it carries it after up to 15 later ones"),
    ):
        parser.add_argument(
            f"--{name}", metavar="P", type=probabilities, default=(0.0, 0.0), help=f"{words}; {on_lines}"
        )
    parser.add_argument("--loss-both", metavar="P", type=probability, default=0.0, help="that neither carries it")
    parser.add_argument(
        "--outage",
        metavar="LINE:START:SECONDS",
        type=outage,
        action="append",
        default=[],
        help="a line, a or b, is silent for a while; may be repeated",
    )
    parser.add_argument("--seed", metavar="S", type=at_least(0), default=0, help="the same seed, the same losses (0)")
