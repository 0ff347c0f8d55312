"""Data that Python has no type for.

`None` is JSON's null. `undefined` is the result of a JavaScript function that returns nothing; it is falsy.
An `int` beyond 2^53 is sent as a bigint. A bigint arrives as a `BigInt`, an `int` that is sent as a bigint
again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class Undefined:
    """No value. There is only one instance."""

    __slots__ = ()
    _one: Undefined | None = None

    def __new__(cls) -> Undefined:
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "undefined"

    def __reduce__(self) -> tuple[type[Undefined], tuple[()]]:
        return Undefined, ()


undefined: Final = Undefined()


class BigInt(int):
    """An integer of any size that is sent as a bigint."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInt({int(self)})"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A registered symbol of JavaScript."""

    name: str


LARGEST: Final = (1 << 53) - 1

DEPTH: Final = 128
"""Nesting depth of a value that can be sent, unless the limits of a connection say otherwise."""
