"""Data that Python lacks a word for.

`None` is JSON's null. What a JavaScript function answers that answers nothing is `undefined`, which is falsy. An `int` beyond
2^53 goes as a bigint and comes as a `BigInt`, an `int` like any other that remembers how it came.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


class Undefined:
    """No value. There is one of it."""

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
    """An integer that goes as a bigint, however small."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"BigInt({int(self)})"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A registered symbol of JavaScript."""

    name: str


LARGEST: Final = (1 << 53) - 1
