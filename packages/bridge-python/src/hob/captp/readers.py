"""Streams of ours that a peer reads: when the last peer that was given one has vanished, its source is told `return()`, once.

Else a file, a socket, a job of the source's stays open for a reader that is not there. A stream is an object with `next` and `return`; of a
reference to somebody else's, whose methods nobody here sees, one that has answered `next` with bytes. What has ended, and what the peer itself
has returned, is told nothing; neither is a bootstrap.
"""

from __future__ import annotations

import weakref
from typing import Final

from ..data import undefined
from ..far import Far
from ..vow import Message, Target, target_of

# How many connections were given it.
_readers: Final[weakref.WeakKeyDictionary[Target, int]] = weakref.WeakKeyDictionary()
# They have ended, or were told to.
_over: Final[weakref.WeakSet[Target]] = weakref.WeakSet()

OF_STREAMS: Final = frozenset({"next", "return"})
"""Calls that say something of the stream that they reach."""


def _is_stream(value: object) -> bool:
    return isinstance(value, Far) and all(value.__hob_method__(name) is not None for name in OF_STREAMS)


class Readers:
    def __init__(self, bootstrap: Target | None) -> None:
        self._bootstrap = bootstrap
        self._given: set[Target] = set()
        # Calls of `return` that are under way.
        self._returns: set[Message] = set()
        self._closed = False

    def gave(self, value: object, target: Target) -> None:
        """The peer has got this object."""
        if _is_stream(value):
            self._give(target)

    def _give(self, target: Target) -> None:
        if target not in self._given and target is not self._bootstrap:
            self._given.add(target)
            _readers[target] = _readers.get(target, 0) + 1

    def dropped(self, target: Target) -> None:
        """It has given it back: others may still read it, and it may ask for it again."""
        if target in self._given:
            self._given.discard(target)
            _readers[target] = _readers.get(target, 1) - 1

    def asked(self, message: Message) -> None:
        """It calls `next` or `return` of something."""
        if message.method == "return":
            self._returns.add(message)

    def answered(self, message: Message, value: object) -> None:
        """What came of that."""
        to = message.to
        if to is None:
            return
        if message in self._returns or value is None or value is undefined:
            self._returns.discard(message)
            _over.add(to)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            self._give(to)
            if self._closed:
                self._end(to)

    def refused(self, message: Message) -> None:
        if message in self._returns:
            self._returns.discard(message)
            if message.to is not None:
                _over.add(message.to)

    def too_late(self, value: object) -> None:
        """An answer that nobody is there for any more: what it would have given."""
        if isinstance(value, (list, tuple, dict)):
            # Most answers that hold a stream are one, or a record with one in it.
            for item in value.values() if isinstance(value, dict) else value:
                if isinstance(item, Far):
                    self.too_late(item)
        elif _is_stream(value):
            target = target_of(value)
            if target is not None and target is not self._bootstrap:
                self._give(target)
                self._end(target)

    def end(self) -> None:
        """The peer is gone."""
        self._closed = True
        for target in list(self._given):
            self._end(target)

    def _end(self, target: Target) -> None:
        self.dropped(target)
        if _readers.get(target, 0) > 0 or target in _over:
            return
        if any(message.to is target for message in self._returns):
            return
        _over.add(target)
        target.post(Message("return", [], None))
