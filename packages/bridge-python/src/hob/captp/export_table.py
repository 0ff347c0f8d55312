"""The table of exports: each exported object and promise by number, with its count of mentions.

Promise: an export of one connection cannot be named on another. An export is removed when the peer has
dropped as many mentions as it was told.
"""

from __future__ import annotations

from ..errors import Limit
from ..message import Target
from ..vat_promise import VatPromise


class Export:
    """One exported object or promise, with the number of mentions that the peer has not dropped."""

    __slots__ = ("mentions", "number", "target", "told", "value", "watched")

    def __init__(self, number: int, value: object, target: Target) -> None:
        self.number = number
        self.value = value
        """The far object or the reference; for a promise, its `VatPromise`."""
        self.target = target
        self.mentions = 1
        self.watched = False
        """The peer will be told the resolution of this promise."""
        self.told = False
        """The peer was told."""


class ExportTable:
    """The exports of one connection, by number and by the identity of their values. Holds at most `most`."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_number: dict[int, Export] = {}
        # By identity. Each entry keeps its value alive, so no other value can have the same id.
        self._by_value: dict[int, Export] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._by_number)

    @property
    def pending(self) -> int:
        """Count of exported promises whose resolution the peer was not told."""
        return sum(1 for each in self._by_number.values() if isinstance(each.value, VatPromise) and not each.told)

    def of(self, value: object) -> Export | None:
        """Returns the export of this very value, and None if it is not exported."""
        return self._by_value.get(id(value))

    def get(self, number: int) -> Export | None:
        """Returns the export with this number, and None if there is none."""
        return self._by_number.get(number)

    def bootstrap(self, value: object, target: Target) -> None:
        """Adds export 0, which is never removed."""
        made = Export(0, value, target)
        made.mentions = 1 << 62
        self._by_number[0] = self._by_value[id(value)] = made

    def mention(self, value: object, target: Target) -> tuple[Export, bool]:
        """Counts one more mention. The second result is True if the export is new."""
        known = self._by_value.get(id(value))
        if known is not None:
            known.mentions += 1
            return known, False
        if len(self._by_number) >= self._most:
            raise Limit("this connection has exported as many references as it may: release some, or connect again")
        self._last += 1
        made = Export(self._last, value, target)
        self._by_number[made.number] = self._by_value[id(value)] = made
        return made, True

    def drop(self, number: int, mentions: int) -> bool:
        """Subtracts mentions, at most all. Returns True if the export was removed."""
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
        """Removes all exports, also the bootstrap."""
        self._by_number.clear()
        self._by_value.clear()
