"""Compiled callers of the system calls, for test_libc."""

from venym.hot import libc
from venym.hot.jit import hot
from venym.hot.libc import address


@hot
def receive(fd, octets, count, flags):
    return libc.recv(fd, address(octets, 0), count, flags)


@hot
def receive_from(fd, octets, source, source_octets):
    return libc.recvfrom(
        fd, address(octets, 0), octets.shape[0], libc.MSG_DONTWAIT, address(source, 0), address(source_octets, 0)
    )


@hot
def receive_message(fd, messages, flags):
    return libc.recvmsg(fd, address(messages, 0), flags)


@hot
def receive_messages(fd, messages, flags):
    return libc.recvmmsg(fd, address(messages, 0), messages.shape[0], flags)


@hot
def send(fd, octets):
    return libc.send(fd, address(octets, 0), octets.shape[0], 0)


@hot
def send_to(fd, octets, target):
    return libc.sendto(fd, address(octets, 0), octets.shape[0], 0, address(target, 0), target.shape[0])


@hot
def send_message(fd, messages):
    return libc.sendmsg(fd, address(messages, 0), 0)


@hot
def send_messages(fd, messages, count):
    return libc.sendmmsg(fd, address(messages, 0), count, 0)


@hot
def now_ns(clock, moment):
    return libc.clock_ns(clock, moment)


@hot
def address_of(array, index):
    return address(array, index)
