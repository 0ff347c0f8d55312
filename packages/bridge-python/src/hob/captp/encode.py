"""Encodes values for the dialect `hob.1` (docs/wire.md, "Values").

Values that JSON has are written as JSON. Any other value is a record whose key `@` names its kind. Bytes are
not in the text; they are sent before it.

Promise: a value that is too large is refused before it is built.
"""

from __future__ import annotations

import math
from typing import Final, Literal, Protocol

from ..data import LARGEST, BigInt, Symbol, undefined
from ..errors import CODE, LONGEST, NAMELESS, CapError, Invalid, Limit
from ..reference import Promise, Ref
from ..message import target_of
from .bigints import DigitBudget, digits
from .limits import Limits
from .weights import CONTAINER, ERROR, ITEM, KEY, RECORD, Keys, of_digits, of_text

Kind = Literal["object", "promise", "yours", "answer"]
Slot = tuple[Kind, int]
"""An entry of a table, from the point of view of the sender of the frame.

`object`, `promise`: exported by the sender. `yours`: exported by the receiver. `answer`: the receiver's
answer to a question of the sender.
"""

LONGEST_SYMBOL: Final = 256
"""Letters of the name of a symbol."""

SPECIAL: Final = 16
"""Minimum letters of a value that JSON lacks: those that name its kind."""


class Slots(Protocol):
    """The tables, as a dialect uses them to encode and decode values."""

    def give(self, value: object, /) -> Slot | None:
        """Returns the slot of a reference or a promise, and None for anything else. Raises `Limit`."""
        ...

    def take(self, kind: str, number: int, /) -> tuple[object, int]:
        """Returns the value that a slot of the peer stands for, and the bytes of a copy made for it. Raises
        `Violation` or `Limit`."""
        ...

    def fault(self, error: BaseException, /) -> str | None:
        """Records an error whose text must not leave. Returns the id that leaves instead."""
        ...


def too_large() -> Limit:
    """Returns the `Limit` for an operation that does not fit in a frame."""
    return Limit("this is larger than a frame may be: send it in parts, or send bytes through a stream")


def outward(error: BaseException, slots: Slots) -> tuple[str, str]:
    """Returns the code and the message to send. An error that is not one of ours may name paths and people,
    so a fixed text leaves."""
    if isinstance(error, CapError) and CODE.match(error.code):
        return error.code, error.message[:LONGEST]
    noted = slots.fault(error)
    return "error", NAMELESS if noted is None else f"{NAMELESS} (error {noted})"


class Outgoing:
    """Encodes the values of one operation. Holds their bytes, in order."""

    __slots__ = ("_depth", "_digits", "_keys", "_left", "_slots", "length", "parts", "weight")

    def __init__(self, slots: Slots, limits: Limits) -> None:
        self._slots = slots
        self._left = limits.frame_bytes
        self._depth = limits.depth
        self._digits = DigitBudget(limits)
        self._keys = Keys()
        self.parts: list[bytes] = []
        self.length = 0
        self.weight = 0
        """Approximate memory of the values, without their bytes."""

    def _take(self, letters: int) -> None:
        self._left -= letters
        if self._left < 0:
            raise too_large()

    def encode(self, value: object, depth: int = 0) -> object:
        """Returns the value in the form that `json` takes."""
        kind = type(value)
        if kind is str:
            self._take(len(value) + 1)  # type: ignore[arg-type]
            self.weight += of_text(value)  # type: ignore[arg-type]
            return value
        self._take(1)
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -LARGEST <= value <= LARGEST else self._bigint(value)  # type: ignore[operator, arg-type]
        if kind is float:
            return self._float(value)  # type: ignore[arg-type]
        if kind is dict:
            return self._record(value, depth)  # type: ignore[arg-type]
        if kind is list or kind is tuple:
            return self._list(value, depth)  # type: ignore[arg-type]
        self._take(SPECIAL)
        if kind is Ref or kind is Promise:
            return self._slot(value)
        return self._other(value, depth)

    def _other(self, value: object, depth: int) -> object:
        if value is undefined:
            return {"@": "undefined"}
        if isinstance(value, (bytes, bytearray, memoryview)):
            part = bytes(value)
            from_ = self.length
            self.parts.append(part)
            self.length += len(part)
            self.weight += CONTAINER
            return {"@": "bytes", "at": from_, "n": len(part)}
        if isinstance(value, BigInt):
            return self._bigint(value)
        if isinstance(value, BaseException):
            code, message = outward(value, self._slots)
            self._take(len(message))
            self.weight += CONTAINER + ERROR + of_text(message)
            return {"@": "error", "code": code, "message": message}
        if isinstance(value, Symbol):
            if len(value.name) > LONGEST_SYMBOL:
                raise Invalid(f"the name of a symbol may have {LONGEST_SYMBOL} letters: send a string")
            self._take(len(value.name))
            self.weight += CONTAINER + of_text(value.name)
            return {"@": "symbol", "v": value.name}
        if isinstance(value, str):
            return self.encode(str(value), depth)
        if isinstance(value, int):
            return self.encode(int(value), depth)
        if isinstance(value, float):
            return self.encode(float(value), depth)
        if isinstance(value, dict):
            return self._record(value, depth)
        if isinstance(value, (list, tuple)):
            return self._list(value, depth)
        return self._slot(value)

    def _slot(self, value: object) -> object:
        slot = self._slots.give(value)
        if slot is None:
            raise Invalid("only data, bytes, errors, references, promises and far objects (hob.far) can be sent")
        self.weight += CONTAINER
        return {"@": slot[0], "n": slot[1]}

    def _float(self, value: float) -> object:
        if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
            return value
        if value != value:
            return {"@": "number", "v": "NaN"}
        return {"@": "number", "v": "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"}

    def _bigint(self, value: int) -> object:
        count = value.bit_length() * 3 // 10
        self._take(SPECIAL + count)
        self._digits.take(count)
        self.weight += of_digits(count)
        return {"@": "bigint", "v": digits(value)}

    def _list(self, value: list[object] | tuple[object, ...], depth: int) -> object:
        if depth >= self._depth:
            raise Invalid(f"data is deeper than {self._depth}")
        self.weight += CONTAINER + ITEM * len(value)
        encode = self.encode
        return [encode(item, depth + 1) for item in value]

    def _record(self, value: dict[object, object], depth: int) -> object:
        if depth >= self._depth:
            raise Invalid(f"data is deeper than {self._depth}")
        made: dict[str, object] = {}
        self.weight += CONTAINER + KEY * len(value) + (RECORD if value else 0)
        for key, item in value.items():
            if not isinstance(key, str):
                raise Invalid("the keys of a record are strings")
            if key == "__proto__":
                raise Invalid('a record cannot have a key "__proto__"')
            if key == "then" and is_callable(item):
                raise Invalid('a record with a callable "then" would be taken for a promise: rename the key')
            self._take(len(key))
            self.weight += self._keys.weigh(key)
            made[f"@{key}" if key[:1] == "@" else key] = self.encode(item, depth + 1)
        return made


def is_callable(value: object) -> bool:
    """True for a reference and for an object that has a target, such as a far object."""
    return type(value) is Ref or target_of(value) is not None
