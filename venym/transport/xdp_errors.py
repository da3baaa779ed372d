"""What can be wrong with AF_XDP, one class for each thing somebody must do about it."""


class XdpError(Exception):
    """AF_XDP cannot be had as asked; the message says of what, why, and what would help."""


class XdpUnsupported(XdpError):
    """This kernel has no AF_XDP, or no bpf(), or no XDP on the interface."""


class XdpInterfaceAbsent(XdpError):
    """There is no interface of that name in this network namespace."""


class XdpMtu(XdpError):
    """The interface lets datagrams through that do not fit a frame."""


class XdpQueues(XdpError):
    """The interface has other receive queues than can be served: what came in on the rest would be lost in silence."""


class XdpQueueBusy(XdpError):
    """Another AF_XDP socket holds the queue, and kept it."""


class XdpForeignProgram(XdpError):
    """Another XDP program is on the interface. It is left alone."""


class XdpMode(XdpError):
    """The driver cannot do what was asked for: native mode, or zero copy."""


class XdpMemoryLimit(XdpError):
    """The frames' memory may not be locked."""


class XdpPermission(XdpError):
    """A capability is missing; the message names it."""


class XdpProgramRefused(XdpError):
    """The kernel's verifier refused the program; the message holds its last words."""


class XdpLine(XdpError):
    """A line that names no interface to take its frames from."""


class XdpHelperError(XdpError):
    """The privileged helper cannot be reached, or refused."""
