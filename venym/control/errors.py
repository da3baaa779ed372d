"""What can go wrong before or around the work, and the exit code it ends with.

0 good   1 bad data   2 usage or configuration   3 risk or kill   70 a fault in venym   130 Ctrl-C   141 broken pipe
"""

GOOD, BAD_DATA, USAGE, RISK = 0, 1, 2, 3
FAULT = 70  # EX_SOFTWARE; Python's own 1 would read as bad data
INTERRUPTED = 130  # 128 + SIGINT
BROKEN_PIPE = 141  # 128 + SIGPIPE


class ConfigurationError(Exception):
    """A setting, a file or an option that venym refuses to start with; the message names all of them, one a line."""
