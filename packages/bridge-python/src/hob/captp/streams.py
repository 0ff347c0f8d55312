"""Ends the streams of ours that a peer holds. When the last peer that was given a stream is gone, a source
gets `return()` and a sink gets `abort()`, once. Otherwise a file, a socket or a job stays open for nobody.

A source is an object with `next` and `return`. A sink is an object with `write`, `close` and `abort`. The
methods of a forwarded reference are not known here; it counts as a source once it has answered `next` with
bytes. A stream that has ended, or that the peer has ended, gets no call. Neither does a bootstrap, because it
is offered to the next peer too.
"""

from __future__ import annotations

import threading
import weakref
from typing import Final, Literal

from ..data import undefined
from ..far import Far
from ..message import Message, Target, target_of

# The number of connections that were given each stream.
_readers: Final[weakref.WeakKeyDictionary[Target, int]] = weakref.WeakKeyDictionary()
# An object may be given out by connections of several loops, each in a thread of its own.
_counting: Final = threading.Lock()
# Streams that have ended or were told to end.
_over: Final[weakref.WeakSet[Target]] = weakref.WeakSet()
_sinks: Final[weakref.WeakSet[Target]] = weakref.WeakSet()

OF_STREAMS: Final = frozenset({"next", "return", "close", "abort"})
"""The methods from which the state of a stream can be learned."""

Ending = Literal["return", "abort"]


def _ending_of(value: object) -> Ending | None:
    """Returns the method that ends this stream, and None if it is no stream."""
    if not isinstance(value, Far):
        return None
    if _has(value, "next", "return"):
        return "return"
    return "abort" if _has(value, "write", "close", "abort") else None


def _has(value: Far, *methods: str) -> bool:
    return all(value.__hob_method__(name) is not None for name in methods)


class Streams:
    """The streams that the peer of one connection was given. The bootstrap is never ended."""

    def __init__(self, bootstrap: Target | None) -> None:
        self._bootstrap = bootstrap
        self._given: dict[Target, Ending] = {}
        # Calls under way that end a stream.
        self._endings: set[Message] = set()
        self._closed = False

    def exported(self, value: object, target: Target) -> None:
        """The peer was given this object."""
        ending = _ending_of(value)
        if ending is not None:
            self._give(target, ending)

    def _give(self, target: Target, ending: Ending) -> None:
        if target in self._given or target is self._bootstrap:
            return
        self._given[target] = ending
        if ending == "abort":
            _sinks.add(target)
        with _counting:
            _readers[target] = _readers.get(target, 0) + 1

    def dropped(self, target: Target) -> None:
        """The peer dropped this object. Others may still use it, and the peer may ask for it again."""
        if self._given.pop(target, None) is not None:
            with _counting:
                _readers[target] = _readers.get(target, 1) - 1

    def asked(self, message: Message) -> None:
        """The peer called a method of a stream."""
        if message.method != "next":
            self._endings.add(message)

    def answered(self, message: Message, value: object) -> None:
        """The call of a method of a stream returned."""
        ends = message in self._endings
        self._endings.discard(message)
        to = message.to
        if to is None:
            return
        if ends:
            self._mark_ended(to, message.method)
        elif value is None or value is undefined:
            _over.add(to)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._give(to, "return")
            if self._closed:
                self._end(to, "return")

    def refused(self, message: Message) -> None:
        """The call failed. A failed `return` or `abort` still ends the stream, but a sink whose `close`
        failed may be open."""
        if message not in self._endings:
            return
        self._endings.discard(message)
        to = message.to
        if to is None:
            return
        if message.method != "close":
            self._mark_ended(to, message.method)
        elif self._closed and to in _sinks:
            self._end(to, "abort")

    def _mark_ended(self, target: Target, method: str) -> None:
        """`close` and `abort` are methods of many objects, so they end only known sinks."""
        if method == "return" or target in _sinks:
            _over.add(target)

    def late_answer(self, value: object) -> None:
        """The answer came after the end of the connection. Streams in it are ended."""
        if isinstance(value, (list, tuple, dict)):
            # Most answers with a stream are the stream, or a record with a stream in it.
            for item in value.values() if isinstance(value, dict) else value:
                if isinstance(item, Far):
                    self.late_answer(item)
            return
        ending, target = _ending_of(value), target_of(value)
        if ending is not None and target is not None and target is not self._bootstrap:
            self._give(target, ending)
            self._end(target, ending)

    def end(self) -> None:
        """The connection is closed."""
        self._closed = True
        for target, ending in list(self._given.items()):
            self._end(target, ending)

    def _end(self, target: Target, ending: Ending) -> None:
        self.dropped(target)
        if _readers.get(target, 0) > 0 or target in _over:
            return
        if any(message.to is target for message in self._endings):
            return
        _over.add(target)
        target.post(Message(ending, [], None))
