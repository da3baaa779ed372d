"""What a publisher puts on a line, with lists: which packets, in which order; and its chances, on Python's integers."""

from collections.abc import Callable

WORD = 0xFFFFFFFF
MASK_64 = 0xFFFFFFFFFFFFFFFF


def keys(seed: int, stream: int) -> tuple[int, int]:
    """Two words of a stream of chance: splitmix64's first number."""
    mixed = (((seed << 8) + stream) & MASK_64) + 0x9E3779B97F4A7C15 & MASK_64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK_64
    mixed ^= mixed >> 31
    return mixed & WORD, mixed >> 32


def scrambled(word: int) -> int:
    word = (word ^ word >> 16) * 0x21F0AAAD & WORD
    word = (word ^ word >> 15) * 0x735A2D97 & WORD
    return word ^ word >> 15


def chance(seed: int, stream: int, number: int) -> int:
    first, second = keys(seed, stream)
    return scrambled(scrambled(number & WORD ^ first) + second + (number >> 32) & WORD)


def sent(
    count: int,
    line: int,
    seed: int,
    loss: float = 0,
    loss_both: float = 0,
    duplicate: float = 0,
    reorder: float = 0,
    is_out: Callable[[int], bool] = lambda number: False,
) -> list[int]:
    """The numbers of the packets in the order in which a line carries them."""

    def happens(stream: int, probability: float, number: int) -> bool:
        return chance(seed, stream, number) < round(probability * 2**32)

    placed = []
    for number in range(count):
        if is_out(number) or happens(0, loss_both, number) or happens(1 + line, loss, number):
            continue
        behind = number
        if happens(5 + line, reorder, number):
            behind += 1 + chance(seed, 7 + line, number) * 15 // 2**32
        copies = 2 if happens(3 + line, duplicate, number) else 1
        # behind all up to `behind`: in its place, or after the one that is there
        placed += [((behind, behind > number, number), number)] * copies
    return [number for _, number in sorted(placed)]
