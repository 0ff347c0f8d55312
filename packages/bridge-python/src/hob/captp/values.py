"""Values of the dialect `hob.1` (docs/wire.md, "Values").

JSON is itself; what JSON lacks is a record whose key `@` says what it is. Bytes are not in the text: they go before it.

Promise: what is encoded is bounded before it is built; what is decoded is new, costs in proportion to the text, and cannot act.
"""

from __future__ import annotations

import math
from typing import Any, Final, Literal, Protocol, TypeGuard

from ..data import LARGEST, BigInt, Symbol, undefined
from ..errors import CODE, LONGEST, NAMELESS, CapError, Invalid, Limit, Violation, inward
from ..reference import Promise, Ref, target_of
from .limits import BIGINTS, DEFAULT, Limits

Kind = Literal["object", "promise", "yours", "answer"]
Slot = tuple[Kind, int]

# About what a record or a list takes in memory, and a part of one with what it is (sys.getsizeof over data as JSON makes it).
CONTAINER: Final = 72
ITEM: Final = 40


def width(text: str) -> int:
    """Bytes of a string in memory: one letter beyond ASCII can make all of them take four."""
    return len(text) if text.isascii() else 40 + 4 * len(text)


LONGEST_SYMBOL: Final = 256
"""Letters of the name of a symbol."""

SPECIAL: Final = 16
"""Letters of a value that JSON lacks, at least."""


class Slots(Protocol):
    """The tables, for a value that is encoded or decoded."""

    def give(self, value: object, /) -> Slot | None: ...
    def take(self, kind: str, number: int, /) -> object: ...
    def fault(self, error: BaseException, /) -> str | None:
        """Notes an error whose text must not leave; the id that leaves in its place."""
        ...


def too_large() -> Limit:
    return Limit("this is larger than a frame may be: send it in parts, or bytes through a stream")


def outward(error: BaseException, slots: Slots) -> tuple[str, str]:
    """What is no error of ours may name paths and people: what leaves is a fixed text."""
    if isinstance(error, CapError) and CODE.match(error.code):
        return error.code, error.message[:LONGEST]
    noted = slots.fault(error)
    return "error", NAMELESS if noted is None else f"{NAMELESS} (error {noted})"


class Outgoing:
    """What the values of one operation need beside their text: bytes, in order."""

    __slots__ = ("_depth", "_digits", "_left", "_slots", "length", "parts", "weight")

    def __init__(self, slots: Slots, limits: Limits) -> None:
        self._slots = slots
        self._left = limits.frame_bytes
        self._depth = limits.depth
        self._digits = most_digits(limits)
        self.parts: list[bytes] = []
        self.length = 0
        self.weight = 0
        """About what the values take in memory, without their bytes."""

    def _take(self, letters: int) -> None:
        self._left -= letters
        if self._left < 0:
            raise too_large()

    def encode(self, value: object, depth: int = 0) -> object:
        """As JSON takes it."""
        kind = type(value)
        if kind is str:
            self._take(len(value) + 1)  # type: ignore[arg-type]
            self.weight += width(value)  # type: ignore[arg-type]
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
            return {"@": "bytes", "at": from_, "n": len(part)}
        if isinstance(value, BigInt):
            return self._bigint(value)
        if isinstance(value, BaseException):
            code, message = outward(value, self._slots)
            self._take(len(message))
            return {"@": "error", "code": code, "message": message}
        if isinstance(value, Symbol):
            if len(value.name) > LONGEST_SYMBOL:
                raise Invalid(f"the name of a symbol may have {LONGEST_SYMBOL} letters: send a string")
            self._take(len(value.name))
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
        return {"@": slot[0], "n": slot[1]}

    def _float(self, value: float) -> object:
        if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
            return value
        if value != value:
            return {"@": "number", "v": "NaN"}
        return {"@": "number", "v": "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"}

    def _bigint(self, value: int) -> object:
        about = value.bit_length() * 3 // 10
        self._take(SPECIAL + about)
        self._digits -= about * about
        if self._digits < 0:
            raise too_many_digits()
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
        self.weight += CONTAINER + ITEM * 2 * len(value)
        for key, item in value.items():
            if not isinstance(key, str):
                raise Invalid("the keys of a record are strings")
            if key == "__proto__":
                raise Invalid('a record cannot have a key "__proto__"')
            if key == "then" and is_callable(item):
                raise Invalid('a record with a callable "then" would pass for a promise')
            self._take(len(key))
            self.weight += width(key)
            made[f"@{key}" if key[:1] == "@" else key] = self.encode(item, depth + 1)
        return made


def is_callable(value: object) -> bool:
    return type(value) is Ref or target_of(value) is not None


def most_digits(limits: Limits) -> int:
    """The squares of the digits of all bigints of a frame, together at most."""
    longest = max(limits.bigint_digits, DEFAULT.bigint_digits)
    return BIGINTS * longest * longest


def too_many_digits() -> Limit:
    return Limit(f"a frame may hold {BIGINTS} bigints as long as they may be: send less at a time")


# Python writes and reads integers of more than 4,300 digits only by way of `decimal`, whose time does not grow with the square.
_SHORT: Final = 4000


def digits(value: int) -> str:
    if value.bit_length() < _SHORT * 3:
        return str(int(value))
    from decimal import Decimal

    return f"{Decimal(int(value)):f}"


def integer(text: str) -> BigInt:
    if len(text) <= _SHORT:
        return BigInt(text)
    from decimal import Decimal

    return BigInt(int(Decimal(text)))


PART: Final = 200


class Incoming:
    """Bytes that came before a frame. Each of them belongs to exactly one value; a refused value may leave some without."""

    __slots__ = ("_claimed", "_excused", "_in_order", "_most", "_parts", "_whole", "length", "taken")

    def __init__(self, limits: Limits) -> None:
        self._parts: list[bytes] = []
        self._whole: bytes | None = None
        self._excused, self._most = False, max(limits.memory_bytes // 4, limits.frame_bytes)
        # `_in_order`: so many have their value from the beginning on, as values usually come in the order of their bytes.
        self.length = self.taken = self._in_order = 0
        self._claimed: bytearray | None = None  # 1 for each byte that has its value, where they come in another order

    def add(self, part: bytes) -> None:
        if not part:
            return
        self._parts.append(part)
        self.length += len(part)
        if self.length > self._most:
            raise Violation(f"the bytes of one frame may be {self._most}: send a stream", 1009)

    @property
    def kept(self) -> int:
        """Memory that it takes: one byte may come as a part of its own."""
        return self.length + len(self._parts) * PART

    def take(self, from_: object, n: object) -> bytes:
        if not is_id(from_) or not is_id(n) or from_ + n > self.length:
            raise Violation("a value names bytes that did not come")
        if not self._claim(from_, n):
            raise Violation("bytes are used twice")
        self.taken += n
        if self._whole is None:
            self._whole = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        return self._whole[from_ : from_ + n]

    def _claim(self, from_: int, n: int) -> bool:
        """Whether nobody has one of these bytes yet. From now on somebody does."""
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
        """A value of the frame was refused, perhaps before it got to its bytes: some may be left."""
        self._excused = True

    def done(self) -> None:
        """The frame that they came for was heard."""
        if self.taken != self.length and not self._excused:
            raise Violation("bytes came that no value names")
        self.clear()

    def clear(self) -> None:
        self._parts, self._excused = [], False
        self._whole = self._claimed = None
        self.length = self.taken = self._in_order = 0


def is_id(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value <= LARGEST


def is_question(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 < value <= LARGEST


def malformed(kind: object) -> Violation:
    return Violation(f'a malformed value of the kind "{kind}"')


_ODD: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
_REFERENCES: Final = frozenset({"object", "promise", "yours", "answer"})


class Decoder:
    """Takes values apart. `weight` grows by about what they take in memory."""

    __slots__ = ("_bytes", "_digits", "_errors", "_limits", "_slots", "weight")

    def __init__(self, slots: Slots, limits: Limits, bytes_: Incoming) -> None:
        self._slots = slots
        self._limits = limits
        self._bytes = bytes_
        self._errors = 0
        self._digits = most_digits(limits)
        self.weight = 0

    def begin(self) -> None:
        """A frame begins."""
        self._errors = 0
        self._digits = most_digits(self._limits)

    def value(self, json: Any, depth: int = 0) -> object:
        kind = type(json)
        if kind is str:
            self.weight += width(json)
            return json
        if kind is int:
            if -LARGEST <= json <= LARGEST:
                return json
            # A number of the wire is a double.
            try:
                return float(json)
            except OverflowError:
                raise Violation("a number that is not finite") from None
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
        self.weight += CONTAINER + ITEM * 2 * len(json)
        made: dict[str, object] = {}
        for key, item in json.items():
            if key == "__proto__":
                raise Invalid('a record cannot have a key "__proto__"')
            self.weight += width(key)
            value = self.value(item, depth + 1)
            if key[:1] == "@":
                if key[1:2] != "@":
                    raise Violation("a key that begins with one @")
                key = key[1:]
            elif key == "then" and is_callable(value):
                raise Invalid('a record with a callable "then" would pass for a promise')
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
            self._exactly(json, 3)
            code, message = json.get("code"), json.get("message")
            if not isinstance(code, str) or not isinstance(message, str):
                raise malformed(kind)
            self._errors += 1
            if self._errors > self._limits.errors:
                raise Invalid(f"a frame may hold {self._limits.errors} errors")
            self.weight += 500 + width(message)
            return inward(code, message)
        if isinstance(kind, str) and kind in _REFERENCES:
            self._exactly(json, 2)
            number = json.get("n")
            if not is_id(number):
                raise malformed(kind)
            return self._slots.take(kind, number)
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
            self._digits -= len(v) * len(v)
            if self._digits < 0:
                raise too_many_digits()
            return integer(v)
        if kind == "symbol":
            self._exactly(json, 2)
            if not isinstance(v, str) or len(v) > LONGEST_SYMBOL:
                raise malformed(kind)
            return Symbol(v)
        raise Violation("a value of an unknown kind")

    def _exactly(self, json: dict[str, object], keys: int) -> None:
        if len(json) != keys:
            raise malformed(json["@"])


def copied(value: object) -> object:
    """Lists and records that nobody else has a part of: what goes two ways must not be changed by one for the other."""
    kind = type(value)
    if kind is list or kind is tuple:
        return [copied(item) for item in value]  # type: ignore[attr-defined]
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}  # type: ignore[attr-defined]
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value
