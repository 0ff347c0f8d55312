"""The dialect `hob.1` at work on one connection: operations are JSON arrays. All operations of one turn go
into one text frame. Bytes go into binary frames before it.

Promise: a peer that breaks the rules of docs/wire.md raises `Violation`. A value that is refused (too deep,
too many) costs its operation and not the connection. A value that cannot be encoded was not sent. No frame is
larger than its receiver takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

from ..errors import CapError, Violation, inward
from .decode import Decoder, Incoming, is_id, is_question
from .encode import Outgoing, Slot, Slots, outward, too_large
from .limits import OPERATIONS, Limits
from .structure import has_room, parse

Frame = str | bytes

FULL: Final = 64 << 10
"""A frame of this length is sent without waiting for the end of the turn."""
BINARY: Final = 1 << 20
"""Maximum bytes of one binary frame. More bytes are sent in several frames."""
_NUMBERS: Final = 1000
"""Numbers in one `done` or `drop`."""

_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode
_escaped: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def dumps(value: object) -> str:
    """Returns the value as compact JSON that has a UTF-8 form. Raises `ValueError` if a number is not finite."""
    text = _dumps(value)
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8, so it is sent as an escape.
        text = _escaped(value)
    return text


class Undecodable:
    """Passed in place of a value that could not be decoded."""

    __slots__ = ("error",)

    def __init__(self, error: CapError) -> None:
        self.error = error


class IncomingOperations(Protocol):
    """Operations that the peer sent. The dialect has checked their form. A value that could not be decoded is
    passed as `Undecodable`, and arguments as the error that says why."""

    @property
    def closed(self) -> CapError | None:
        """Set when the connection is closed. The operations that are left in a frame are then skipped."""
        ...

    def deliver(self, to: Slot, method: str, args: list[object] | CapError, question: int, weight: int, /) -> None:
        """`question` 0: no answer is wanted. `weight`: the approximate memory of this operation."""
        ...

    def answer(self, question: int, value: object, /) -> None:
        """The peer answered our question with this value."""
        ...

    def refuse(self, question: int, error: CapError, /) -> None:
        """The peer answered our question with this error."""
        ...

    def resolve(self, promise: int, value: object, /) -> None:
        """A promise of the peer resolved to this value."""
        ...

    def break_(self, promise: int, error: CapError, /) -> None:
        """A promise of the peer broke with this error."""
        ...

    def done(self, question: int, /) -> None:
        """The peer does not refer to our answer to this question again."""
        ...

    def drop(self, number: int, mentions: int, /) -> None:
        """The peer gives back this many mentions of our export with this number."""
        ...


class DialectSession:
    """Encodes the operations of one connection into frames for `send`. Decodes frames of the peer and passes
    their operations to the listener."""

    def __init__(
        self, slots: Slots, listener: IncomingOperations, limits: Limits, send: Callable[[Frame], None]
    ) -> None:
        self._slots = slots
        self._listener = listener
        self._limits = limits
        self._send = send
        self._incoming = Incoming(limits)
        self._decoder = Decoder(slots, limits, self._incoming)
        self._operations: list[str] = []
        self._length = 0
        # Dones and drops that are not in a frame yet.
        self._done: list[int] = []
        self._drops: list[int] = []

    @property
    def kept(self) -> int:
        """Bytes received that wait for the frame that completes them."""
        return self._incoming.kept

    def clear(self) -> None:
        """The connection is closed."""
        self._incoming.clear()

    # ---- outgoing. `deliver`, `answer` and `resolve` raise if a value cannot be encoded --------------------

    def deliver(self, to: Slot, method: str, args: list[object], question: int) -> None:
        """`question` 0: no answer is wanted."""
        out = Outgoing(self._slots, self._limits)
        target = [to[1]] if to[0] == "answer" else to[1]
        operation: list[object] = ["deliver", target, method, [out.encode(arg) for arg in args]]
        if question:
            operation.append(question)
        self._send_operation(dumps(operation), out)

    def answer(self, question: int, value: object) -> int:
        """Returns the approximate memory of the answer while it is kept."""
        out = Outgoing(self._slots, self._limits)
        self._send_operation(dumps(["return", question, out.encode(value)]), out)
        return out.weight + out.length

    def refuse(self, question: int, error: BaseException) -> int:
        """Adds the error that answers a question. Returns the length of its text, the memory that it counts for."""
        text = dumps(["fail", question, *outward(error, self._slots)])
        self._add(text)
        return len(text)

    def resolve(self, promise: int, value: object) -> None:
        """Adds the value that an exported promise resolved to. Raises `CapError`, `ValueError` or `RecursionError`
        if it cannot be encoded."""
        out = Outgoing(self._slots, self._limits)
        self._send_operation(dumps(["resolve", promise, out.encode(value)]), out)

    def break_(self, promise: int, error: BaseException) -> None:
        """Adds the error that an exported promise broke with."""
        self._add(dumps(["break", promise, *outward(error, self._slots)]))

    def done(self, question: int) -> None:
        """Notes that we do not refer to the answer to this question again. Leaves with the next operation or flush."""
        self._done.append(question)

    def drop(self, number: int, mentions: int) -> None:
        """Notes that we give back mentions of an import. Leaves with the next operation or flush."""
        self._drops += (number, mentions)

    def flush(self) -> None:
        """Sends the operations, dones and drops that wait. Sends no frame if there are none."""
        self._add_forgotten()
        self._send_frame()

    def _send_operation(self, text: str, out: Outgoing) -> None:
        """Adds an operation, or sends it alone if it carries bytes."""
        limits = self._limits
        length = len(text)
        # A frame with this operation alone adds two brackets.
        if length > limits.frame_bytes - 2 or (
            length * 3 > limits.frame_bytes and len(text.encode()) > limits.frame_bytes - 2
        ):
            raise too_large()
        if out.length > limits.memory_bytes // 4:
            raise too_large()
        # A frame of several operations is too short to have too many tokens.
        if length > min(FULL, limits.tokens) and not has_room(text, limits):
            raise too_large()
        if out.length == 0:
            return self._add(text)
        # Positions of bytes count from the start of the bytes before the frame, so the operation gets a frame
        # of its own.
        self.flush()
        for part in out.parts:
            for at in range(0, len(part), BINARY):
                self._send(part[at : at + BINARY])
        self._send(f"[{text}]")

    def _add(self, text: str) -> None:
        # Drops and dones go before the next operation, because they happened earlier.
        if self._done or self._drops:
            self._add_forgotten()
        self._push(text)

    def _add_forgotten(self) -> None:
        done, self._done = self._done, []
        drops, self._drops = self._drops, []
        for at in range(0, len(done), _NUMBERS):
            self._push(f'["done",{",".join(map(str, done[at : at + _NUMBERS]))}]')
        for at in range(0, len(drops), _NUMBERS):
            self._push(f'["drop",{",".join(map(str, drops[at : at + _NUMBERS]))}]')

    def _push(self, text: str) -> None:
        if self._length > 0 and self._length + len(text) > FULL:
            self._send_frame()
        self._operations.append(text)
        self._length += len(text) + 1
        if len(self._operations) >= OPERATIONS:
            self._send_frame()

    def _send_frame(self) -> None:
        if not self._operations:
            return
        operations, self._operations = self._operations, []
        self._length = 0
        self._send(f"[{','.join(operations)}]")

    # ---- incoming ------------------------------------------------------------------------------------------

    def receive(self, frame: Frame) -> None:
        """Decodes a frame and calls the listener for each operation. Raises `Violation`."""
        if not isinstance(frame, str):
            return self._incoming.add(frame)
        operations = parse(frame, self._limits)
        if not isinstance(operations, list) or not operations:
            raise Violation("a frame is a list of operations")
        if len(operations) > OPERATIONS:
            raise Violation(f"a frame may have {OPERATIONS} operations: send several")
        self._decoder.begin()
        for operation in operations:
            if self._listener.closed is not None:
                return
            self._operation(operation)
        self._incoming.done()

    def _operation(self, operation: Any) -> None:
        if not isinstance(operation, list) or not operation:
            raise Violation("an operation is a list")
        name, length = operation[0], len(operation)
        listener = self._listener
        if name == "deliver":
            if length in (4, 5) and type(operation[2]) is str and isinstance(operation[3], list):
                to = _slot_of(operation[1])
                if to is not None and (length == 4 or is_question(operation[4])):
                    return self._deliver(to, operation[2], operation[3], operation[4] if length == 5 else 0)
        elif name == "return":
            if length == 3 and is_question(operation[1]):
                return listener.answer(operation[1], self._value(operation[2]))
        elif name == "resolve":
            if length == 3 and is_id(operation[1]):
                return listener.resolve(operation[1], self._value(operation[2]))
        elif name in ("fail", "break"):
            if length == 4 and is_id(operation[1]) and type(operation[2]) is str and type(operation[3]) is str:
                told = listener.refuse if name == "fail" else listener.break_
                return told(operation[1], inward(operation[2], operation[3]))
        elif name == "done":
            if length >= 2 and all(map(is_question, operation[1:])):
                for number in operation[1:]:
                    listener.done(number)
                return
        elif name == "drop":
            if length >= 3 and length % 2 == 1 and all(map(is_id, operation[1:])):
                for at in range(1, length, 2):
                    listener.drop(operation[at], operation[at + 1])
                return
        else:
            raise Violation("an unknown operation")
        raise Violation(f'malformed "{name}"')

    def _deliver(self, to: Slot, method: str, json: list[object], question: int) -> None:
        decoder, incoming = self._decoder, self._incoming
        decoder.weight = 0
        before = incoming.taken
        args: list[object] | CapError
        try:
            args = [decoder.value(item) for item in json]
        except CapError as error:
            incoming.excuse()
            args = error
        weight = len(method) + decoder.weight + incoming.taken - before
        self._listener.deliver(to, method, args, question, weight)

    def _value(self, json: object) -> object:
        try:
            return self._decoder.value(json)
        except CapError as error:
            self._incoming.excuse()
            return Undecodable(error)


def _slot_of(to: object) -> Slot | None:
    """Returns the slot of a call: an export of ours, or our answer to a question. None if the form is wrong."""
    if isinstance(to, list):
        return ("answer", to[0]) if len(to) == 1 and is_question(to[0]) else None
    return ("yours", to) if is_id(to) else None
