"""What the peer was given: each object and each promise under a number of its own, and how often it was mentioned.

Promise: what one connection exports another cannot name. What the peer has forgotten as often as it was told of it is gone.
"""

from __future__ import annotations

from ..errors import Limit
from ..vow import Target, Vow


class Export:
    __slots__ = ("mentions", "number", "target", "told", "value", "watched")

    def __init__(self, number: int, value: object, target: Target) -> None:
        self.number = number
        self.value = value
        """The far object or the reference; the vow behind a promise."""
        self.target = target
        self.mentions = 1
        self.watched = False
        """The peer is going to be told what became of this promise."""
        self.told = False
        """It was told."""


class Exports:
    def __init__(self, most: int) -> None:
        self._most = most
        self._by_number: dict[int, Export] = {}
        # By identity: each entry keeps its value, so no other one can have its id.
        self._by_value: dict[int, Export] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._by_number)

    @property
    def pending(self) -> int:
        return sum(1 for known in self._by_number.values() if isinstance(known.value, Vow) and not known.told)

    def of(self, value: object) -> Export | None:
        return self._by_value.get(id(value))

    def get(self, number: int) -> Export | None:
        return self._by_number.get(number)

    def bootstrap(self, value: object, target: Target) -> None:
        """Number 0, which stays."""
        made = Export(0, value, target)
        made.mentions = 1 << 62
        self._by_number[0] = self._by_value[id(value)] = made

    def mention(self, value: object, target: Target) -> tuple[Export, bool]:
        """One more mention of it; True where it is new."""
        known = self._by_value.get(id(value))
        if known is not None:
            known.mentions += 1
            return known, False
        if len(self._by_number) >= self._most:
            raise Limit("this connection has given out all that it may: release references, or connect again")
        self._last += 1
        made = Export(self._last, value, target)
        self._by_number[made.number] = self._by_value[id(value)] = made
        return made, True

    def drop(self, number: int, mentions: int) -> bool:
        """So many mentions are forgotten, at most all. True where it is gone."""
        known = self._by_number.get(number)
        if known is None:
            return False
        known.mentions -= mentions
        if known.mentions > 0:
            return False
        del self._by_number[number]
        self._by_value.pop(id(known.value), None)
        return True

    def clear(self) -> None:
        self._by_number.clear()
        self._by_value.clear()
