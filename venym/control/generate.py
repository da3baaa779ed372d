"""``venym generate``: write a made-up trading day, with the mix of messages of a real one.

    1,000,000 messages, 30,534,748 octets, at most 50,065 live orders
    A      441,978   44.20 %
    D      429,165   42.92 %
    ...

The file's name says what is written: NAME.pcap is a capture, any other name length-prefixed messages, and .gz behind
it compresses. See `venue.generate` for what the same arguments promise.
"""

import argparse
import json
import time

from ..venue.day_plan import PlanError, Wanted
from ..venue.generate import Written, write_file
from .errors import GOOD, ConfigurationError
from .log import say
from .progress import Progress
from .settings import Settings

OCTETS_A_MESSAGE, OCTETS_A_PACKED_MESSAGE = 31, 55  # about


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Write ``args.messages`` (int) messages of ``args.symbols`` (int) instruments to ``args.file`` (Path).

    ``args.seed`` (int) makes the day another one; ``args.live_orders`` (int or None) sets the number of live orders at
    the peak; ``args.date`` (datetime.date) is the session's; ``args.json`` prints one JSON object instead of a table.
    Raises ConfigurationError when there is no such day, OSError when the file cannot be written.
    """
    wanted = Wanted(args.messages, args.symbols, args.seed, args.live_orders)
    is_capture = ".pcap" in args.file.suffixes[-2:]
    octets = wanted.messages * (OCTETS_A_PACKED_MESSAGE if is_capture else OCTETS_A_MESSAGE)
    started_ns = time.monotonic_ns()
    try:
        with Progress(octets, args.file.name) as progress:
            written = write_file(wanted, args.file, args.date, progress.update)
    except PlanError as error:
        raise ConfigurationError(str(error)) from error
    seconds = (time.monotonic_ns() - started_ns) / 1e9
    say(f"{args.file}: written in {seconds:.1f} s")
    print(_as_json(written) if args.json else _as_text(written))
    return GOOD


def _as_json(written: Written) -> str:
    return json.dumps(written._asdict(), indent=2)


def _as_text(written: Written) -> str:
    lines = [
        f"{written.messages:,} messages, {written.octets:,} octets, at most {written.live_orders_max:,} live orders"
    ]
    by_count = sorted(written.by_type.items(), key=lambda item: (-item[1], item[0]))
    lines += [f"{kind} {count:>12,} {count / written.messages:8.2%}" for kind, count in by_count]
    return "\n".join(lines)
