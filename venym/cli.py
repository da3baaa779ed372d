"""The command line: one row a command.

    venym COMMAND … [--config F] [--set section.key=value]…

Results go to stdout, messages to stderr; exit codes stand in `control.errors`. A command's body is
``venym.control.MODULE.run(args, settings) -> exit code``, imported only when it is wanted, so that help and check need
not wait for the compiler.
"""

import argparse
import importlib
import os
import sys
import textwrap
import traceback
import warnings
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple, cast

from . import __version__
from .control.errors import BAD_DATA, BROKEN_PIPE, FAULT, INTERRUPTED, USAGE, ConfigurationError
from .control.log import say, show_warnings
from .control.option_types import at_least, iso_date
from .control.publish_options import publish_arguments


class Command(NamedTuple):
    name: str
    summary: str
    module: str  # in venym.control
    compiles: bool  # whether compiled code runs in it, so that the compile cache must be settled first
    arguments: Callable[[argparse.ArgumentParser], None]


def _check_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")


def _decode_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a capture or a day file, may be gzipped")
    parser.add_argument("--limit", metavar="N", type=at_least(1), help="stop after N messages")


def _book_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="a capture or a day file, may be gzipped")
    parser.add_argument("--symbol", metavar="S", help="the ladder of this instrument, instead of a line for each")
    parser.add_argument(
        "--at", metavar="TIME", help="the books as they stood at this exchange time, HH:MM:SS[.fraction]"
    )
    parser.add_argument("--levels", metavar="N", type=at_least(1), help="levels a side (text: 10; JSON: all)")
    parser.add_argument("--json", action="store_true", help="JSON instead of a table")


def _generate_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the file to write")
    parser.add_argument("--messages", metavar="N", type=at_least(1), required=True, help="messages to write")
    parser.add_argument("--symbols", metavar="N", type=at_least(1), required=True, help="instruments they spread over")
    parser.add_argument("--seed", metavar="S", type=at_least(0), required=True, help="the same seed, the same bytes")
    parser.add_argument("--live-orders", metavar="N", type=at_least(1), help="orders alive at the peak, about")
    parser.add_argument(
        "--date", metavar="YYYY-MM-DD", type=iso_date, default=date(2019, 1, 30), help="the session (2019-01-30)"
    )
    parser.add_argument("--json", action="store_true", help="what was written as JSON instead of a table")


def _replay_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="captures or day files, one stream in order"
    )
    parser.add_argument(
        "--plan", choices=("auto", "fused", "split2", "dedicated"), help="which stages share a core (replay.plan)"
    )
    parser.add_argument("--speed", metavar="max|realtime|N", help="exchange time a second (replay.speed)")
    parser.add_argument("--date", metavar="YYYY-MM-DD", type=iso_date, help="the session, where the files do not say")
    parser.add_argument("--orders", metavar="FILE", type=Path, help="a copy of the orders sent, one FIX message a line")
    parser.add_argument("--run-dir", metavar="DIR", type=Path, help="an empty directory for what the run leaves")
    parser.add_argument("--json", action="store_true", help="the result as JSON instead of a summary")


def _run_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", metavar="N", type=at_least(1), help="end after N seconds")
    parser.add_argument("--date", metavar="YYYY-MM-DD", type=iso_date, help="the session (today's in New York)")
    parser.add_argument("--run-dir", metavar="DIR", type=Path, help="an empty directory for what the run leaves")
    parser.add_argument("--json", action="store_true", help="the result as JSON instead of a summary")


def _record_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the capture to write, a new file")
    parser.add_argument("--seconds", metavar="N", type=at_least(1), help="end after N seconds")
    parser.add_argument("--packets", metavar="N", type=at_least(1), help="end after N packets")
    parser.add_argument("--json", action="store_true", help="what was written as JSON instead of a table")


COMMANDS = (
    Command("check", "resolve and print every setting and where it came from", "check", False, _check_arguments),
    Command(
        "decode",
        "print the messages of captures and day files, as they lie there, as lines of JSON",
        "decode",
        True,
        _decode_arguments,
    ),
    Command("book", "build every order book and show them", "ladder", True, _book_arguments),
    Command("replay", "run captures through strategies into a venue in memory", "replay", True, _replay_arguments),
    Command("run", "run all stages on the live feed, sending nothing", "live", True, _run_arguments),
    Command("record", "write what the lines carry to a capture", "record", True, _record_arguments),
    Command(
        "publish",
        "put captures on the lines, and serve recovery: the exchange's side",
        "publish",
        True,
        publish_arguments,
    ),
    Command("generate", "write a made-up trading day", "generate", True, _generate_arguments),
)

# Errors whose message is all that a user needs, and the exit code of each.
ERRORS = (
    ("venym.transport.capture", "CaptureError", BAD_DATA),
    ("venym.transport.lines", "LineError", USAGE),
    ("venym.transport.xdp_errors", "XdpError", USAGE),
    ("venym.venue.message_store", "StoreError", BAD_DATA),
    ("venym.venue.sending", "SendError", USAGE),
    ("venym.hot.pages", "ArenaError", USAGE),
    ("venym.strategies.load", "StrategyError", USAGE),
    ("venym.models.model", "ModelError", USAGE),
    ("venym.control.engine", "StageFailed", FAULT),
)

EPILOG = """\
`venym COMMAND --help` shows a command's own options. Every command takes --config FILE and --set section.key=value;
`venym check` shows the settings. Exit codes: 0 good, 1 bad data, 2 usage or configuration, 3 risk or kill."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; every way it can end is turned into one here."""
    if sys.stdout is None:
        say("standard output is closed")
        return USAGE
    try:
        try:
            return _run(sys.argv[1:] if argv is None else list(argv))
        finally:
            sys.stdout.flush()  # here, where a closed pipe or a full disk can still be told
    except KeyboardInterrupt:
        say("interrupted")
        return _abandon_output(INTERRUPTED)
    except BrokenPipeError:  # the reader has seen enough
        return _abandon_output(BROKEN_PIPE)
    except ConfigurationError as error:
        say("refused to start:\n" + textwrap.indent(str(error), "  "))
        return USAGE
    except MemoryError as error:
        say(f"out of memory: {error or 'see the maxima in [book]'}")
        return USAGE
    except OSError as error:
        say(f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error))
        return _abandon_output(USAGE)
    except Exception as error:
        code = _code_of(error)
        if code != FAULT:
            say(str(error))
            return code
        traceback.print_exc()
        say("this is a fault in venym, not in what it was given")
        return FAULT


def _run(argv: list[str]) -> int:
    top = _top_parser()
    name = top.parse_args(argv[:1]).command  # the rest is the command's own, wherever its options stand
    if name is None:
        top.print_help(sys.stderr)
        return USAGE
    command = next(command for command in COMMANDS if command.name == name)
    args = parser_of(command).parse_intermixed_args(_without_dashes(argv[1:]))
    from .control.resolve import resolve

    settings, args.table = resolve(args.config, args.set, os.environ)
    with warnings.catch_warnings():
        warnings.showwarning = show_warnings("CacheWarning", warnings.showwarning)
        if command.compiles:
            _choose_cache(settings.runtime.cache_dir)
            _tell_of_compiling()
        body = importlib.import_module(f"venym.control.{command.module}")
        return cast(int, body.run(args, settings))


def _without_dashes(argv: list[str]) -> list[str]:
    """What follows ``--`` are files: argparse cannot mix that with options anywhere, but knows ``./-file``."""
    if "--" not in argv:
        return argv
    at = argv.index("--")
    return argv[:at] + [f"./{name}" if name.startswith("-") else name for name in argv[at + 1 :]]


def _top_parser() -> argparse.ArgumentParser:
    width = max(len(command.name) for command in COMMANDS)
    listed = "\n".join(f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS)
    parser = argparse.ArgumentParser(
        prog="venym",
        usage="venym [-h] [--version] COMMAND ...",
        description=f"Exchange packets in, orders out.\n\ncommands:\n{listed}",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"venym {__version__}")
    names = [command.name for command in COMMANDS]
    parser.add_argument("command", metavar="COMMAND", nargs="?", choices=names, help=argparse.SUPPRESS)
    return parser


def parser_of(command: Command) -> argparse.ArgumentParser:
    """Its own options and the common ones; for ``parse_intermixed_args``, so that they may stand between files."""
    parser = argparse.ArgumentParser(
        prog=f"venym {command.name}",
        description=f"{command.summary[0].upper()}{command.summary[1:]}.",
        allow_abbrev=False,
    )
    command.arguments(parser)
    parser.add_argument("--config", metavar="FILE", type=Path, help="a TOML file of settings")
    parser.add_argument(
        "--set", metavar="section.key=value", action="append", default=[], help="one setting; may be repeated"
    )
    return parser


def _choose_cache(folder: Path | None) -> None:
    """Keep compiled code in `folder` from now on, before anything compiles."""
    if folder is None:
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(f"runtime.cache_dir: {folder}: {error.strerror}") from error
    from .hot.cache import ROOT

    ROOT.choose(folder)


def _tell_of_compiling() -> None:
    """Somebody who waits at a terminal is told why, the one time it takes long."""
    if sys.stderr.isatty():
        from .hot.jit import FirstCompile

        FirstCompile(lambda: say("compiling for this machine; later starts find it done"))


def _code_of(error: Exception) -> int:
    """The exit code of an error that a part of venym names. Looked up, not imported: who raised it has loaded it."""
    for module, name, code in ERRORS:
        if module in sys.modules and isinstance(error, getattr(sys.modules[module], name)):
            return code
    return FAULT


def _abandon_output(code: int) -> int:
    """Nobody takes stdout any more: what is still buffered must not be tried again when Python ends."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code
