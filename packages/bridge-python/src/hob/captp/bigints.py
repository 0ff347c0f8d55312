"""Bigints of any length as decimal digits, and their budget in one frame."""

from __future__ import annotations

from typing import Final

from ..data import BigInt
from ..errors import Limit
from .limits import BIGINTS, DEFAULT, Limits

# Python refuses to convert integers of more than 4,300 digits to text and back. `decimal` converts them
# in less than quadratic time.
_SHORT: Final = 4000


def digits(value: int) -> str:
    """Returns an integer of any length as decimal digits, with `-` in front if it is negative."""
    if value.bit_length() < _SHORT * 3:
        return str(int(value))
    from decimal import Decimal

    return f"{Decimal(int(value)):f}"


def integer(text: str) -> BigInt:
    """Returns the bigint that the decimal digits stand for, at any length. The caller has checked the text."""
    if len(text) <= _SHORT:
        return BigInt(text)
    from decimal import Decimal

    return BigInt(int(Decimal(text)))


class DigitBudget:
    """Limits the sum, over all bigints of a frame, of the square of each length in digits (the cost of reading them)."""

    __slots__ = ("_left", "_most")

    def __init__(self, limits: Limits) -> None:
        longest = max(limits.bigint_digits, DEFAULT.bigint_digits)
        self._most = BIGINTS * longest * longest
        self._left = self._most

    def begin(self) -> None:
        """Called at the start of each frame."""
        self._left = self._most

    def take(self, count: int) -> None:
        """Raises `Limit` if the frame may not hold another bigint of so many digits."""
        self._left -= count * count
        if self._left < 0:
            raise Limit(f"a frame may hold {BIGINTS} bigints of the greatest length: send fewer at a time")
