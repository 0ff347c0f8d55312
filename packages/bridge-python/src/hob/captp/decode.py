"""Decodes values of the dialect `hob.1` (docs/wire.md, "Values").

Promise: decoded values are plain and new. The cost of decoding is proportional to the text. Nothing in a
decoded value can run code.
"""

from __future__ import annotations

import math
from typing import Any, Final, TypeGuard

from ..data import LARGEST, Symbol, undefined
from ..errors import Invalid, Violation, inward
from .bigints import DigitBudget, integer
from .encode import LONGEST_SYMBOL, Slots, is_callable
from .limits import Limits
from .weights import CONTAINER, ERROR, ITEM, KEY, RECORD, Keys, of_digits, of_text

_PART: Final = 200
"""Memory of one part of the bytes of a frame, beside the bytes."""


class Incoming:
    """The bytes that came before a frame. Each byte belongs to exactly one value. If a value is refused, some
    bytes may belong to none."""

    def __init__(self, limits: Limits) -> None:
        self._most = max(limits.memory_bytes // 4, limits.frame_bytes)
        self._parts: list[bytes] = []
        self._whole: bytes | None = None
        self.length = 0
        # Count of bytes that values have taken.
        self.taken = 0
        # All bytes before this position are taken. Usually values come in the order of their bytes.
        self._in_order = 0
        # Holds 1 for each byte that is taken. Created only if values come in another order.
        self._claimed: bytearray | None = None
        self._excused = False

    def add(self, part: bytes) -> None:
        """Appends the bytes of one binary frame. Raises `Violation` (1009) if all of them together
        are too long."""
        if not part:
            return
        self._parts.append(part)
        self.length += len(part)
        if self.length > self._most:
            raise Violation(f"the bytes of one frame may be {self._most}: send a stream", 1009)

    @property
    def kept(self) -> int:
        """Memory in use. A part may be as small as one byte, so each part counts too."""
        return self.length + len(self._parts) * _PART

    def take(self, from_: object, n: object) -> bytes:
        """Returns the `n` bytes from position `from_`, and marks them as taken. Raises `Violation` if the frame does
        not bring them or another value has taken some of them."""
        if not is_id(from_) or not is_id(n) or from_ + n > self.length:
            raise Violation("a value names bytes that the frame does not bring")
        if not self._claim(from_, n):
            raise Violation("two values name the same bytes")
        self.taken += n
        if self._whole is None:
            self._whole = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        return self._whole[from_ : from_ + n]

    def _claim(self, from_: int, n: int) -> bool:
        """Takes these bytes for a value. Returns False if one of them is taken already."""
        if self._claimed is None:
            if from_ == self._in_order:
                self._in_order += n
                return True
            self._claimed = bytearray(b"\1" * self._in_order).ljust(self.length, b"\0")
        if self._claimed.find(1, from_, from_ + n) >= 0:
            return False
        self._claimed[from_ : from_ + n] = b"\1" * n
        return True

    def excuse(self) -> None:
        """A value of the frame was refused, perhaps before its bytes were taken. So bytes may be left over."""
        self._excused = True

    def done(self) -> None:
        """The frame of these bytes was decoded."""
        if self.taken != self.length and not self._excused:
            raise Violation("the frame brings bytes that no value names")
        self.clear()

    def clear(self) -> None:
        """Forgets all bytes."""
        self._parts, self._excused = [], False
        self._whole = self._claimed = None
        self.length = self.taken = self._in_order = 0


def is_id(value: object) -> TypeGuard[int]:
    """True for an integer from 0 to 2**53 - 1. A `bool` is none."""
    return type(value) is int and 0 <= value <= LARGEST


def is_question(value: object) -> TypeGuard[int]:
    """True for an integer from 1 to 2**53 - 1. A `bool` is none."""
    return type(value) is int and 0 < value <= LARGEST


def malformed(kind: object) -> Violation:
    """Returns the `Violation` for a value whose form does not fit its kind."""
    return Violation(f'a malformed value of the kind "{kind}"')


_ODD: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_REFERENCES: Final = frozenset({"object", "promise", "yours", "answer"})


class Decoder:
    """Decodes values. `weight` grows by their approximate memory."""

    __slots__ = ("_bytes", "_digits", "_errors", "_keys", "_limits", "_slots", "weight")

    def __init__(self, slots: Slots, limits: Limits, bytes_: Incoming) -> None:
        self._slots = slots
        self._limits = limits
        self._bytes = bytes_
        self._errors = 0
        self._digits = DigitBudget(limits)
        self._keys = Keys()
        self.weight = 0

    def begin(self) -> None:
        """Called at the start of each frame."""
        self._errors = 0
        self._digits.begin()
        self._keys = Keys()

    def value(self, json: Any, depth: int = 0) -> object:
        """Returns the value that parsed JSON stands for. `depth` is the number of lists and records around it.
        Raises `Violation` if the form is wrong, and `Invalid` or `Limit` if the value is refused."""
        kind = type(json)
        if kind is str:
            self.weight += of_text(json)
            return json
        if kind is int:
            if -LARGEST <= json <= LARGEST:
                return json
            # A number on the wire is a double.
            try:
                return float(json)
            except OverflowError:
                raise Violation("a number is not finite") from None
        if kind is list:
            if depth >= self._limits.depth:
                raise Invalid(f"data is deeper than {self._limits.depth}")
            self.weight += CONTAINER + ITEM * len(json)
            value = self.value
            return [value(item, depth + 1) for item in json]
        if kind is dict:
            if depth >= self._limits.depth:
                raise Invalid(f"data is deeper than {self._limits.depth}")
            if "@" in json:
                return self._special(json)
            return self._record(json, depth)
        return json

    def _record(self, json: dict[str, object], depth: int) -> object:
        self.weight += CONTAINER + KEY * len(json) + (RECORD if json else 0)
        made: dict[str, object] = {}
        for key, item in json.items():
            if key == "__proto__":
                raise Invalid('a record cannot have a key "__proto__"')
            self.weight += self._keys.weigh(key)
            value = self.value(item, depth + 1)
            if key[:1] == "@":
                if key[1:2] != "@":
                    raise Violation("a key begins with a single @")
                key = key[1:]
                self.weight += of_text(key)
            elif key == "then" and is_callable(value):
                raise Invalid('a record with a callable "then" would be taken for a promise: rename the key')
            made[key] = value
        return made

    def _special(self, json: dict[str, object]) -> object:
        kind = json["@"]
        self.weight += CONTAINER
        if kind == "bytes":
            self._exactly(json, 3)
            return self._bytes.take(json.get("at"), json.get("n"))
        if kind == "undefined":
            self._exactly(json, 1)
            return undefined
        if kind == "error":
            return self._error(json)
        if isinstance(kind, str) and kind in _REFERENCES:
            self._exactly(json, 2)
            number = json.get("n")
            if not is_id(number):
                raise malformed(kind)
            value, copied_bytes = self._slots.take(kind, number)
            self.weight += copied_bytes
            return value
        v = json.get("v")
        if kind == "number":
            self._exactly(json, 2)
            if not isinstance(v, str) or v not in _ODD:
                raise malformed(kind)
            return _ODD[v]
        if kind == "bigint":
            self._exactly(json, 2)
            if not isinstance(v, str) or not v.removeprefix("-").isdecimal() or not v.isascii():
                raise malformed(kind)
            if len(v) > self._limits.bigint_digits:
                raise Invalid(f"a bigint may have {self._limits.bigint_digits} digits")
            self._digits.take(len(v))
            self.weight += of_digits(len(v))
            return integer(v)
        if kind == "symbol":
            self._exactly(json, 2)
            if not isinstance(v, str) or len(v) > LONGEST_SYMBOL:
                raise malformed(kind)
            self.weight += of_text(v)
            return Symbol(v)
        raise Violation("a value of an unknown kind")

    def _error(self, json: dict[str, object]) -> object:
        self._exactly(json, 3)
        code, message = json.get("code"), json.get("message")
        if not isinstance(code, str) or not isinstance(message, str):
            raise malformed("error")
        self._errors += 1
        if self._errors > self._limits.errors:
            raise Invalid(f"a frame may hold {self._limits.errors} errors")
        self.weight += ERROR + of_text(message)
        return inward(code, message)

    def _exactly(self, json: dict[str, object], keys: int) -> None:
        if len(json) != keys:
            raise malformed(json["@"])


def copied(value: object) -> object:
    """Returns new lists and records with the same content, so that one receiver cannot change those of
    another."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [copied(item) for item in value]  # type: ignore[attr-defined]
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}  # type: ignore[attr-defined]
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value
