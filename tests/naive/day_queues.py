"""The twin of venue/day_book.py: lists for queues, a list of ages."""

from collections import defaultdict


class ListBooks:
    """Orders are known by slot. `queues` has (locate, step); `ages` is oldest first, with None for holes."""

    def __init__(self, widths: dict[int, int]) -> None:
        self.widths = widths
        self.orders: dict[int, tuple[int, int, int, int, int]] = {}  # locate, side, step, shares, reference
        self.queues: dict[tuple[int, int], list[int]] = defaultdict(list)
        self.ages: list[int | None] = []

    def add(self, slot: int, locate: int, side: int, step: int, shares: int, reference: int) -> None:
        assert slot not in self.orders
        self.orders[slot] = (locate, side, step, shares, reference)
        if step >= 0:
            self.queues[locate, step].append(slot)
        self.ages.append(slot)

    def remove(self, slot: int) -> None:
        locate, _, step, _, _ = self.orders.pop(slot)
        if step >= 0:
            self.queues[locate, step].remove(slot)
        self.ages[self.ages.index(slot)] = None

    def replace(self, slot: int, step: int, shares: int, reference: int) -> None:
        locate, side = self.orders[slot][:2]
        self.remove(slot)
        self.add(slot, locate, side, step, shares, reference)

    def best(self, locate: int, side: int, bid: int) -> int:
        """The best step of a side; -1 or the width when it is empty."""
        steps = [order[2] for order in self.orders.values() if order[:2] == (locate, side) and order[2] >= 0]
        if side == bid:
            return max(steps, default=-1)
        return min(steps, default=self.widths[locate])

    def live_from(self, at: int) -> int:
        """The slot at `at` or the first before it, then the youngest and on down; 0 when there is none."""
        order = [slot for slot in self.ages[at::-1] + self.ages[:at:-1] if slot is not None]
        return order[0] if order else 0
