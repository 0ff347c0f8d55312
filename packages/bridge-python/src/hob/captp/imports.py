"""What the peer gave us, by its numbers: its objects for as long as somebody here holds them, its promises until they are settled.

Promise: one object has one reference; every mention is counted, also while nobody held it, so that what is given back is what was
had. How many there may be is bounded, and how many promises one frame may bring.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from ..errors import Limit, Violation
from ..reference import Promise, Ref
from ..vow import Vow
from .limits import IMPORT, PROMISE, PROMISES
from .remote import Exit, Import, ImportedPromise


class _Entry:
    __slots__ = ("mentions", "ref")

    def __init__(self) -> None:
        self.ref: weakref.ref[Ref] | None = None
        self.mentions = 0


class Imports:
    def __init__(
        self, exit_: Exit, most: int, keeps: Callable[[int], None], collected: Callable[[int], None]
    ) -> None:
        self._exit = exit_
        self._most = most
        self._keeps = keeps
        # Called by the garbage collector: at any moment, in any thread. It may do nothing but take note.
        self._collected = collected
        self._objects: dict[int, _Entry] = {}
        self._promises: dict[int, ImportedPromise] = {}
        # Settled, and not given back: what they became may mention them.
        self._settled: dict[int, ImportedPromise] = {}
        # New in the frame that is being heard.
        self._brought = 0

    def begin(self) -> None:
        """A frame begins."""
        self._brought = 0

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def pending(self) -> int:
        return len(self._promises)

    def object(self, number: int) -> Ref:
        """The reference of an object of the peer's, mentioned once more."""
        entry = self._objects.get(number)
        ref = None if entry is None or entry.ref is None else entry.ref()
        if ref is None:
            if number in self._promises or number in self._settled:
                raise Violation("one number is an object and a promise")
            if entry is None:
                self._room(IMPORT)
                entry = self._objects[number] = _Entry()
            ref = Ref(Import(self._exit, number))
            collected = self._collected
            entry.ref = weakref.ref(ref, lambda _: collected(number))
        assert entry is not None
        entry.mentions += 1
        return ref

    def promise(self, number: int) -> Promise:
        found = self._promises.get(number) or self._settled.get(number)
        if found is None:
            # Number 0 is the bootstrap, an object, also while nobody here holds it.
            if number == 0 or number in self._objects:
                raise Violation("one number is an object and a promise")
            self._brought += 1
            if self._brought > PROMISES:
                raise Limit(f"a frame may bring {PROMISES} new promises: send less at a time")
            self._room(PROMISE)
            vow = Vow()
            found = ImportedPromise(self._exit, number, vow)
            vow.along(found)
            self._promises[number] = found
        found.mentions += 1
        return Promise(found.vow)

    def _room(self, weight: int) -> None:
        if len(self._objects) + len(self._promises) + len(self._settled) >= self._most:
            raise Limit("too many references came by this connection: give some back before you send more")
        self._keeps(weight)

    def promised(self, number: int) -> ImportedPromise | None:
        """One that is not settled."""
        return self._promises.get(number)

    def settled(self, promise: ImportedPromise) -> None:
        if self._promises.pop(promise.number, None) is not None:
            self._settled[promise.number] = promise

    def give_back(self, promise: ImportedPromise) -> int:
        """A settled one: how many mentions. From now on its number is that of another one."""
        if self._settled.pop(promise.number, None) is None:
            return 0
        self._keeps(-PROMISE)
        return promise.mentions

    def collect(self, number: int) -> int:
        """Nobody holds it: how many mentions to give back, 0 where it came again meanwhile."""
        entry = self._objects.get(number)
        if entry is None or (entry.ref is not None and entry.ref() is not None):
            return 0
        del self._objects[number]
        return entry.mentions

    def release(self, given: Import, ref: Ref) -> int:
        """The program says that it is done with it."""
        given.released = True
        entry = self._objects.get(given.number)
        if entry is None or entry.ref is None or entry.ref() is not ref:
            return 0
        del self._objects[given.number]
        return entry.mentions

    def clear(self) -> list[ImportedPromise]:
        """The connection is over: the promises that nobody will settle."""
        promises = list(self._promises.values())
        self._objects.clear()
        self._promises.clear()
        self._settled.clear()
        return promises
