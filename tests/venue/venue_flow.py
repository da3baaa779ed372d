"""Market messages and orders of chance, near one another in price and time, with all that may go wrong in between."""

import random

from tests.naive import fix
from tests.naive.market_feed import Packet
from tests.naive.venue import Setting
from tests.stages import itch_messages as itch
from tests.venue.venue_drive import MIDNIGHT_NS, Gateway, datagram, day, listed

LOCATES = {"TEST": 7, "TWO": 8, "OTHER": 9}
STRANGE = ("price", "shares", "symbol", "side", "type", "tif", "missing", "empty", "twice", "sequence", "kind", "party",
           "version", "checksum", "admin", "possdup", "no number")  # fmt: skip


def setting(chance: random.Random) -> Setting:
    return Setting(
        listed("TEST", tick_e4=100) + listed("TWO", lot_shares=10),
        version=chance.choice(["FIX.4.2", "FIX.4.4"]),
        order_latency_ns=chance.choice([0, 3, 50]),
        report_latency_ns=chance.choice([0, 7, 1000]),
        midnight_ns=MIDNIGHT_NS,
        decimals=chance.choice([0, 3, 6, 9]),
        orders_max=chance.choice([5, 256, 256, 256]),
        ids_max=chance.choice([8, 512, 512, 512]),
    )


class MarketFlow:
    """Messages of three symbols, two of them listed; most of them fit the books."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.live: list[tuple[int, str, int]] = []  # reference, symbol, shares
        self.reference = 0
        self.time_ns = itch.START_NS

    def messages(self, count: int) -> list[bytes]:
        spin = [itch.directory(symbol, locate) for symbol, locate in LOCATES.items() if self.chance.random() < 0.8]
        spin += [itch.trading_action("T", locate=locate, symbol=symbol) for symbol, locate in LOCATES.items()]
        return spin + [self.timed(self.one()) for _ in range(count)]

    def timed(self, message: bytes) -> bytes:
        self.time_ns += self.chance.choice([0, 0, 1, 5, 20])
        told = self.time_ns - self.chance.choice([0, 0, 0, 0, 10])
        return message[:5] + told.to_bytes(6, "big") + message[11:]

    def price(self) -> int:
        return 100_000 + 100 * self.chance.randrange(-4, 5)

    def next_reference(self) -> int:
        if self.live and self.chance.random() < 0.02:
            return self.chance.choice(self.live)[0]
        self.reference += self.chance.choice([1, 1, 3, 16])
        return self.reference

    def one(self) -> bytes:
        chance = self.chance
        what = chance.random()
        if what < 0.45 or not self.live:
            symbol = chance.choice(["TEST", "TEST", "TEST", "TWO", "OTHER"])
            reference, shares = self.next_reference(), chance.choice([0, 10, 30, 100])
            self.live.append((reference, symbol, shares))
            side, mpid = chance.choice("BSBSBSBSX"), chance.choice(["", "", "ABCD"])
            return itch.add(reference, side, shares, self.price(), LOCATES[symbol], symbol, mpid)
        if what > 0.97:
            return self.other()
        place = chance.randrange(len(self.live))
        reference, symbol, shares = self.live[place]
        reference = reference if chance.random() > 0.02 else reference + 1_000_000
        locate, part = LOCATES[symbol], chance.choice([1, 10, shares, shares, shares + 5])
        if what < 0.65:
            return itch.execute(reference, part, 1, locate)
        if what < 0.70:
            return itch.execute_at(reference, part, self.price(), chance.choice("YN"), 1, locate)
        if what < 0.75:
            return itch.cancel(reference, part, locate)
        del self.live[place]
        if what < 0.85:
            return itch.delete(reference, locate)
        new, shares = self.next_reference(), chance.choice([0, 20, 100])
        self.live.append((new, symbol, shares))
        return itch.replace(reference, new, shares, self.price(), locate)

    def other(self) -> bytes:
        chance = self.chance
        if chance.random() < 0.5:
            return itch.trading_action("T", "", *chance.choice([(7, "TEST"), (8, "TWO")]))
        symbol = chance.choice(list(LOCATES))
        locate = LOCATES[symbol]
        return chance.choice([
            itch.trading_action(chance.choice("HPQT"), "", locate, symbol),
            itch.operational_halt(chance.choice("HT"), chance.choice("QB"), locate, symbol),
            itch.operational_halt("T", "Q", 7, "TEST"), itch.message("W", 0, breached_level="1"),
            itch.message("S", 0, event_code=chance.choice("OSQMEC")), itch.trade(100, self.price(), 1, locate, symbol),
            itch.cross(500, self.price(), 1, "O", locate, symbol), itch.broken(1, locate),
            itch.directory(symbol, chance.choice([locate, locate, 11])), itch.message("I", locate, stock=symbol), b"",
            b"~" * 17, itch.directory(symbol, locate)[:30], itch.directory("", locate),
        ])  # fmt: skip

    def packets(self, count: int) -> list[Packet]:
        """As a day file, or as datagrams of a session or two, some of them twice, on two lines or lost."""
        chance, messages = self.chance, self.messages(count)
        if chance.random() < 0.3:
            at = sorted(chance.sample(range(len(messages)), 5))
            return [day(*messages[a:b]) for a, b in zip([0, *at], [*at, len(messages)], strict=True)]
        packets, sequence, session = [], 1, "S1"
        while messages:
            size = chance.choice([0, 1, 2, 5])
            sent, messages = messages[:size], messages[size:]
            packet = datagram(session, sequence, sent)
            packets += [packet._replace(line=line) for line in chance.choice([[0], [0], [0, 1], [1, 0], [0, 0], [1]])]
            sequence += len(sent)
            happens = chance.random()
            if happens < 0.02:
                sequence += 2
            elif happens < 0.03:
                packets.append(datagram(session, sequence, [], count=0xFFFF))
            elif happens < 0.06:
                session, sequence = chance.choice([("S2", 1), ("S1", sequence), ("S3", 9)])
            elif happens < 0.08:
                packets.append(Packet(packet.octets[: chance.randrange(len(packet.octets))], 0))
        return packets


def orders(chance: random.Random, setting: Setting, count: int, until_ns: int) -> list[tuple[int, bytes]]:
    """(clock, octets) of what a gateway sends, one to three messages a record."""
    gateway, made = Gateway(setting), []
    names = {"A0": ("1", "TEST")}  # of orders and replacements: side and symbol
    clocks = sorted(chance.randrange(itch.START_NS, until_ns + 20) for _ in range(count))
    for clock in clocks:
        octets = b"".join(one(chance, gateway, names) for _ in range(chance.choice([1, 1, 1, 2, 3])))
        made.append((clock, octets))
    return made


def one(chance: random.Random, gateway: Gateway, names: dict[str, tuple[str, str]]) -> bytes:
    strange = chance.choice(STRANGE) if chance.random() < 0.15 else ""
    name = f"A{gateway.sequence}" if chance.random() > 0.03 else chance.choice(list(names))
    side, symbol = chance.choice("1125"), chance.choice(["TEST", "TEST", "TEST", "TWO"])
    shares: object = chance.choice([10, 50, 100, 300])
    price: object = f"{10 + chance.randrange(-4, 5) / 100:.4f}"
    more: dict[str, object] = {}
    if strange == "price":
        price = chance.choice(["10.005", "0", "-1", "1e1", "10.00001", "214748.3648", "10.0.0", "x"])
    elif strange == "shares":
        shares = chance.choice(["0", "15", "100.5", "100.00", "2147483648", "ten", None])
    elif strange == "symbol":
        symbol = chance.choice(["OTHER", "TOOLONGASYMBOL", "T", "Z" * 60])
    elif strange == "side":
        side = chance.choice("936")
    elif strange == "type":
        more["t40"] = chance.choice(["3", "12", None])
    elif strange == "tif":
        more["t59"] = chance.choice(["1", "6", "00"])
    elif strange == "missing":
        more[chance.choice(["t11", "t54", "t55", "t41", "t40", "t59"])] = None
    elif strange == "empty":
        more[chance.choice(["t11", "t58", "t38", "t9140"])] = ""
    if chance.random() < 0.1:
        more["t18"] = chance.choice(["6", "6 1", "1 6", "66", "1"])
    if chance.random() < 0.2:
        more.setdefault("t59", 3)
    what, orig = chance.random(), chance.choice(list(names)[-6:])
    if what < 0.5:
        names[name] = side, symbol
        message = gateway.new(name, side, shares, price if chance.random() > 0.1 else None, symbol, **more)
        return spoilt(chance, gateway, message, strange)
    if chance.random() > 0.05:
        side, symbol = names[orig]
    if what < 0.7:
        message = gateway.cancel(name, orig, side, symbol, **more)
    else:
        names[name] = side, symbol
        if chance.random() < 0.5 and orig != name:
            del names[orig]
        message = gateway.replace(name, orig, shares, price, side, symbol, **more)
    return spoilt(chance, gateway, message, strange)


def spoilt(chance: random.Random, gateway: Gateway, message: bytes, strange: str) -> bytes:
    """What is wrong with the message as such, and beside it."""
    if strange == "twice":
        return resealed(message, b"\x0152=", b"\x0154=1\x0154=2\x0152=")
    if strange == "party":
        return resealed(message, b"49=VENYM", b"49=OTHER")
    if strange == "version":
        gateway.sequence -= 1
        return resealed(message, b"8=FIX.4.", b"8=FIX.5.")
    if strange == "checksum":
        gateway.sequence -= 1
        return message[:-4] + b"999\x01"
    if strange == "admin":
        return message + gateway.message(chance.choice("0125A"), {112: "X"})
    if strange == "kind":
        return message + gateway.message(chance.choice(["AE", "V", "8", "D1X"]), {})
    if strange == "sequence":
        return message + gateway.message("0", {}, chance.choice([1, gateway.sequence + 1, 10**17]))
    if strange == "possdup":
        return message + gateway.message("0", {43: chance.choice("YN")}, chance.choice([1, gateway.sequence + 1]))
    if strange == "no number":
        gateway.sequence -= 1
        return resealed(message, b"\x0134=", b"\x0133=")
    return message


def resealed(message: bytes, old: bytes, new: bytes) -> bytes:
    """The message with something else in it, and the right length and sum."""
    begin, _, body = message.replace(old, new, 1)[:-7].split(b"\x01", 2)
    return fix.message(body + b"\x01", begin[2:].decode())
