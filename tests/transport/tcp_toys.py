"""Compiled callers of the TCP transport, for tests."""

from venym.hot.jit import hot
from venym.transport import tcp


@hot
def send_from(ctx, link):
    return tcp.send_from(ctx, link)


@hot
def receive_into(ctx, link, clock_ns):
    return tcp.receive_into(ctx, link, clock_ns)
