"""Random numbers that are the same on every machine: xoshiro128++ on integers, no floating point anywhere.

The four 32-bit words of its state lie in int64, so that no operation can wrap and plain Python counts alike.
Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021.
"""

import numpy as np

from ..hot.jit import step
from ..hot.layout import aligned

MASK = 0xFFFFFFFF
MASK_64 = 0xFFFFFFFFFFFFFFFF


def make_chance(seed: int) -> np.ndarray:
    """The (4,) int64 state that `seed` (any integer; 64 bits of it count) stands for, spread by splitmix64."""
    words = aligned(4, np.int64)
    state = seed & MASK_64
    for pair in range(2):
        state = state + 0x9E3779B97F4A7C15 & MASK_64
        mixed = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK_64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & MASK_64
        mixed ^= mixed >> 31
        words[2 * pair], words[2 * pair + 1] = mixed & MASK, mixed >> 32
    return words


@step
def draw(chance):
    """The next 32 random bits, 0 to 2^32 - 1."""
    s0, s1, s2, s3 = chance[0], chance[1], chance[2], chance[3]
    total = s0 + s3 & MASK
    drawn = (total << 7 & MASK | total >> 25) + s0 & MASK
    s2 ^= s0
    s3 ^= s1
    chance[1] = s1 ^ s2
    chance[0] = s0 ^ s3
    chance[2] = s2 ^ (s1 << 9 & MASK)
    chance[3] = s3 << 11 & MASK | s3 >> 21
    return drawn


@step
def below(chance, bound):
    """A number from 0 to bound - 1; `bound` from 1 to 2^31."""
    return draw(chance) * bound >> 32
