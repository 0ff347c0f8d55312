"""Approximate memory of decoded values, measured over data as JSON makes it (tests/test_memory.py)."""

from __future__ import annotations

from sys import getsizeof
from typing import Final

CONTAINER: Final = 72
"""A list or a record, or an object for a value that JSON lacks."""
ITEM: Final = 40
"""An item of a list, with a number in it."""
KEY: Final = 64
"""A key of a record, with a number as its value, without the name of the key."""
RECORD: Final = 48
"""Added for a record that is not empty: its table of keys has room for five."""
ERROR: Final = 500
"""An error, beside its message."""
_COUNTED: Final = 24
"""The part of a string that `ITEM` already counts."""
_BIGINT: Final = 32


def of_text(text: str) -> int:
    """A string that is an item or a key."""
    return getsizeof(text) - _COUNTED


def of_digits(count: int) -> int:
    """A bigint that is an item. Each digit takes less than half a byte."""
    return _BIGINT + count // 2


class Keys:
    """The names of keys of one frame or one answer. Records that have the same keys share their names, so
    each name counts once."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: set[str] = set()

    def weigh(self, key: str) -> int:
        """Returns the memory of a key's name in bytes, and 0 if the name was weighed before."""
        if key in self._known:
            return 0
        self._known.add(key)
        return of_text(key)
