"""What is heard: a frame taken apart into operations, each checked for its form before anybody is told.

Promise: what breaks the rules of docs/wire.md raises `Violation`. A value that is refused (too deep, too many) costs its operation, and not
the connection.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from ..errors import CapError, Violation, inward
from .limits import OPERATIONS, Limits
from .structure import parse
from .values import Decoder, Incoming, Slots, is_id, is_question


class Listener(Protocol):
    """Who is told. `refused`: the value could not be decoded."""

    @property
    def closed(self) -> CapError | None: ...
    def deliver(
        self, to: int, asked: bool, method: str, args: list[object], refused: CapError | None, number: int, weight: int, /
    ) -> None:
        """A call of the export `to`, or of the answer to the question `to`."""
        ...

    def returned(self, number: int, value: object, refused: CapError | None, /) -> None: ...
    def failed(self, number: int, error: CapError, /) -> None: ...
    def resolved(self, number: int, value: object, refused: CapError | None, /) -> None: ...
    def broken(self, number: int, error: CapError, /) -> None: ...
    def done(self, number: int, /) -> None: ...
    def dropped(self, number: int, mentions: int, /) -> None: ...


class Hearing:
    def __init__(self, listener: Listener, slots: Slots, limits: Limits, incoming: Incoming) -> None:
        self._listener = listener
        self._limits = limits
        self._incoming = incoming
        self.decoder: Final = Decoder(slots, limits, incoming)

    def text(self, text: str) -> None:
        operations = parse(text, self._limits)
        if not isinstance(operations, list) or not operations:
            raise Violation("a frame is a list of operations")
        if len(operations) > OPERATIONS:
            raise Violation(f"a frame may have {OPERATIONS} operations: send several")
        self.decoder.begin()
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
            if (length == 4 or (length == 5 and is_question(operation[4]))) and type(operation[2]) is str:
                to, args = operation[1], operation[3]
                asked = isinstance(to, list)
                if asked:
                    fits = len(to) == 1 and is_question(to[0])
                else:
                    fits = is_id(to)
                if fits and isinstance(args, list):
                    number = operation[4] if length == 5 else 0
                    return self._deliver(to[0] if asked else to, asked, operation[2], args, number)
        elif name == "return":
            if length == 3 and is_question(operation[1]):
                return listener.returned(operation[1], *self._value(operation[2]))
        elif name == "fail":
            if length == 4 and is_id(operation[1]) and type(operation[2]) is str and type(operation[3]) is str:
                return listener.failed(operation[1], inward(operation[2], operation[3]))
        elif name == "resolve":
            if length == 3 and is_id(operation[1]):
                return listener.resolved(operation[1], *self._value(operation[2]))
        elif name == "break":
            if length == 4 and is_id(operation[1]) and type(operation[2]) is str and type(operation[3]) is str:
                return listener.broken(operation[1], inward(operation[2], operation[3]))
        elif name == "done":
            if length >= 2 and all(map(is_question, operation[1:])):
                for number in operation[1:]:
                    listener.done(number)
                return
        elif name == "drop":
            if length >= 3 and length % 2 == 1 and all(map(is_id, operation[1:])):
                for at in range(1, length, 2):
                    listener.dropped(operation[at], operation[at + 1])
                return
        else:
            raise Violation("an unknown operation")
        raise Violation(f'malformed "{name}"')

    def _deliver(self, to: int, asked: bool, method: str, json: list[object], number: int) -> None:
        decoder, incoming = self.decoder, self._incoming
        decoder.weight = 0
        before = incoming.taken
        args: list[object] = []
        refused: CapError | None = None
        try:
            args = [decoder.value(item) for item in json]
        except CapError as error:
            incoming.excuse()
            refused = error
        weight = len(method) + decoder.weight + incoming.taken - before
        self._listener.deliver(to, asked, method, args, refused, number, weight)

    def _value(self, json: object) -> tuple[object, CapError | None]:
        try:
            return self.decoder.value(json), None
        except CapError as error:
            self._incoming.excuse()
            return None, error
