"""A made-up flow of ITCH messages that add, change and remove orders, right and wrong ones."""

import random

from tests.stages import itch_messages as itch

LOCATES = (1, 2, 65_535)


def flow(seed: int, count: int) -> list[bytes]:
    """Of three instruments; some in twenty do not fit: unknown or known references, too many shares, wrong locates."""
    chance = random.Random(seed)
    live: dict[int, int] = {}
    messages = [itch.message("S", 0, event_code="O")]
    for locate in LOCATES:
        messages += [itch.directory(f"S{locate}", locate), itch.trading_action("H", locate=locate, symbol=f"S{locate}")]
    reference, now_ns = 0, itch.START_NS
    while len(messages) < count:
        now_ns += chance.randrange(1_000)
        picked = chance.choice(list(live)) if live else 999_999
        locate = live.get(picked, 1)
        if chance.random() < 0.03:
            locate = chance.choice(LOCATES)
        if chance.random() < 0.03:
            picked = chance.randrange(1, reference + 100)
        kind = chance.choice("AAAAAFUUEECXDDHYhSLI")
        shares, price_e4 = chance.randrange(0, 500), chance.randrange(90, 111) * 100
        if kind in "AF":
            where = chance.choice(LOCATES)
            known = chance.random() < 0.02 and bool(live)
            reference += not known
            used = picked if known else reference
            side = chance.choice("BBBBSSSSX")
            mpid = "MPID" if kind == "F" else ""
            messages.append(itch.add(used, side, shares, price_e4, where, f"S{where}", mpid, now_ns))
            live.setdefault(used, where)
        elif kind == "U":
            reference += 1
            new = picked if chance.random() < 0.02 else reference
            messages.append(itch.replace(picked, new, shares, price_e4, locate))
            live[new] = live.pop(picked, locate)
        elif kind == "E":
            messages.append(itch.execute(picked, shares // 3, len(messages), locate))
        elif kind == "C":
            messages.append(itch.execute_at(picked, shares // 3, price_e4, match=len(messages), locate=locate))
        elif kind == "X":
            messages.append(itch.cancel(picked, shares // 3, locate))
        elif kind == "D":
            messages.append(itch.delete(picked, locate))
            live.pop(picked, None)
        elif kind == "H":
            messages.append(itch.trading_action(chance.choice("HTPQ"), locate=locate, symbol=f"S{locate}"))
        elif kind == "Y":
            messages.append(itch.message("Y", locate, now_ns, stock=f"S{locate}", reg_sho_action=chance.choice("012")))
        elif kind == "h":
            code, action = chance.choice("QBX"), chance.choice("HT")
            messages.append(itch.operational_halt(action, code, locate, f"S{locate}"))
        elif kind == "S":
            messages.append(itch.message("S", 0, now_ns, event_code=chance.choice("OSQME")))
        else:
            messages.append(itch.message(kind, locate, now_ns, stock=f"S{locate}"))
    return messages
