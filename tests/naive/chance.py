"""xoshiro128++ as its authors write it, on words cut to 32 bits."""


def rotated_left(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & 0xFFFFFFFF


def drawn(words: list[int]) -> int:
    """The next number; `words` (four) go on."""
    result = (rotated_left((words[0] + words[3]) & 0xFFFFFFFF, 7) + words[0]) & 0xFFFFFFFF
    shifted = (words[1] << 9) & 0xFFFFFFFF
    words[2] ^= words[0]
    words[3] ^= words[1]
    words[1] ^= words[2]
    words[0] ^= words[3]
    words[2] ^= shifted
    words[3] = rotated_left(words[3], 11)
    return result
