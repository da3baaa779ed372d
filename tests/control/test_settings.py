"""The settings are those of the parts they are for."""

from venym.control.settings import FRAMES_OCTETS_MIN, Settings
from venym.hot.arena import Arena
from venym.stages.decoder import Limits
from venym.transport.capture import FRAMES_BYTES_MIN


def test_the_maxima_of_the_books_are_the_decoders() -> None:
    book = Settings().book.model_dump()
    assert {name: book[name] for name in Limits._fields} == Limits()._asdict()


def test_the_smallest_frames_are_the_readers() -> None:
    assert FRAMES_OCTETS_MIN == FRAMES_BYTES_MIN


def test_memory_is_taken_by_these_words() -> None:
    memory = Settings().memory
    Arena(1 << 20, memory.huge_pages, memory.lock).close()
    Arena(1 << 20, "never", "never").close()
