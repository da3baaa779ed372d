"""A link as a deque: what producer and consumer see of each other when they take turns."""

from collections import deque
from typing import Any


class Link:
    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.records: deque[Any] = deque()

    def room(self, wanted: int) -> int:
        return min(self.capacity - len(self.records), wanted)

    def commit(self, records: list[Any]) -> None:
        self.records.extend(records)

    def ready(self, wanted: int) -> int:
        return min(len(self.records), wanted)

    def peek(self, k: int) -> Any:
        return self.records[k]

    def release(self, count: int) -> None:
        for _ in range(count):
            self.records.popleft()
