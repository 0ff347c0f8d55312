"""What is said, as frames: operations as lists of JSON, all that one turn says in one text frame, bytes in binary frames before it.

Promise: what cannot be carried was not said: it is too large before it is built. No frame is larger than its receiver takes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from .limits import OPERATIONS, Limits
from .structure import has_room
from .values import Outgoing, Slots, outward, too_large

Frame = str | bytes

FULL: Final = 64 << 10
"""A frame with this much in it leaves without waiting for the end of the turn."""
BINARY: Final = 1 << 20
AT_ONCE: Final = 1000
"""Numbers in one operation that says what is forgotten."""

_dumps: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode
_escaped: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def dumps(value: object) -> str:
    text = _dumps(value)
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        # Half a pair of surrogates has no UTF-8: it goes escaped.
        text = _escaped(value)
    return text


class Speech:
    def __init__(self, slots: Slots, limits: Limits, send: Callable[[Frame], None]) -> None:
        self._slots = slots
        self._limits = limits
        self._send = send
        self._said: list[str] = []
        self._length = 0
        # What is forgotten, and not said yet.
        self._done: list[int] = []
        self._drops: list[int] = []

    # ---- operations. `deliver`, `answer` and `resolve` raise where a value cannot be carried ----------------------------

    def deliver(self, to: int | list[int], method: str, args: list[object], number: int) -> None:
        """`number` 0: no answer is wanted."""
        out = Outgoing(self._slots, self._limits)
        operation: list[object] = ["deliver", to, method, [out.encode(arg) for arg in args]]
        if number:
            operation.append(number)
        self._say(dumps(operation), out)

    def answer(self, number: int, value: object) -> int:
        """Answers what it weighs for as long as it is kept."""
        out = Outgoing(self._slots, self._limits)
        text = dumps(["return", number, out.encode(value)])
        self._say(text, out)
        return out.weight + out.length

    def refuse(self, number: int, error: BaseException) -> int:
        text = dumps(["fail", number, *outward(error, self._slots)])
        self._add(text)
        return len(text)

    def resolve(self, number: int, value: object) -> None:
        out = Outgoing(self._slots, self._limits)
        self._say(dumps(["resolve", number, out.encode(value)]), out)

    def break_(self, number: int, error: BaseException) -> None:
        self._add(dumps(["break", number, *outward(error, self._slots)]))

    def done(self, number: int) -> None:
        self._done.append(number)

    def drop(self, number: int, mentions: int) -> None:
        self._drops += (number, mentions)

    def flush(self) -> None:
        self._forget()
        self._leave()

    # ---- frames -------------------------------------------------------------------------------------------------------

    def _say(self, text: str, out: Outgoing) -> None:
        limits = self._limits
        length = len(text)
        # Two more around it.
        if length > limits.frame_bytes - 2 or (
            length * 3 > limits.frame_bytes and len(text.encode()) > limits.frame_bytes - 2
        ):
            raise too_large()
        if out.length > limits.memory_bytes // 4:
            raise too_large()
        # A frame of more than one operation is too short for that.
        if length > min(FULL, limits.tokens) and not has_room(text, limits):
            raise too_large()
        if out.length == 0:
            return self._add(text)
        # Where bytes lie is said by where they begin in what came before the frame: so it is a frame of its own.
        self.flush()
        for part in out.parts:
            for at in range(0, len(part), BINARY):
                self._send(part[at : at + BINARY])
        self._send(f"[{text}]")

    def _add(self, text: str) -> None:
        # What is forgotten goes before what is said next: it was forgotten before.
        if self._done or self._drops:
            self._forget()
        self._push(text)

    def _forget(self) -> None:
        done, self._done = self._done, []
        drops, self._drops = self._drops, []
        for at in range(0, len(done), AT_ONCE):
            self._push(f'["done",{",".join(map(str, done[at : at + AT_ONCE]))}]')
        for at in range(0, len(drops), AT_ONCE):
            self._push(f'["drop",{",".join(map(str, drops[at : at + AT_ONCE]))}]')

    def _push(self, text: str) -> None:
        if self._length > 0 and self._length + len(text) > FULL:
            self._leave()
        self._said.append(text)
        self._length += len(text) + 1
        if len(self._said) >= OPERATIONS:
            self._leave()

    def _leave(self) -> None:
        if not self._said:
            return
        said, self._said = self._said, []
        self._length = 0
        self._send(f"[{','.join(said)}]")
