"""The table of imports: objects of the peer while somebody here holds them, and its promises until they
settle.

Promise: one object has one reference. Every mention is counted, also while nobody held the object, so a drop
gives back exactly the mentions received. The number of imports is limited, and so is the number of new
promises in one frame.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable

from ..errors import Limit, Violation
from ..reference import Promise, Ref
from ..vat_promise import VatPromise
from .imports import Import, ImportedPromise, PeerConnection
from .limits import IMPORT, PROMISE, PROMISES


class _Entry:
    __slots__ = ("mentions", "ref")

    def __init__(self) -> None:
        self.ref: weakref.ref[Ref] | None = None
        self.mentions = 0


class ImportTable:
    """The imports of one connection by number. Holds at most `most` objects and promises together."""

    def __init__(
        self,
        connection: PeerConnection,
        most: int,
        add_bytes: Callable[[int], None],
        collected: Callable[[int], None],
    ) -> None:
        self._connection = connection
        self._most = most
        self._add_bytes = add_bytes
        # Called by the garbage collector, at any moment and in any thread. It may only take a note.
        self._collected = collected
        self._objects: dict[int, _Entry] = {}
        self._promises: dict[int, ImportedPromise] = {}
        # Settled and not dropped: their values may mention them.
        self._settled: dict[int, ImportedPromise] = {}
        # New promises in the current frame.
        self._brought = 0

    def begin(self) -> None:
        """Called at the start of each frame."""
        self._brought = 0

    def __len__(self) -> int:
        return len(self._objects)

    @property
    def pending(self) -> int:
        """Count of imported promises that are not settled."""
        return len(self._promises)

    def object(self, number: int) -> Ref:
        """Returns the reference of an object of the peer, and counts one more mention."""
        entry = self._objects.get(number)
        ref = None if entry is None or entry.ref is None else entry.ref()
        if ref is None:
            if number in self._promises or number in self._settled:
                raise Violation("one number is used for an object and for a promise")
            if entry is None:
                self._add(IMPORT)
                entry = self._objects[number] = _Entry()
            ref = Ref(Import(self._connection, number))
            collected = self._collected
            entry.ref = weakref.ref(ref, lambda _: collected(number))
        assert entry is not None
        entry.mentions += 1
        return ref

    def promise(self, number: int) -> Promise:
        """Returns a promise of the peer, and counts one more mention. Raises `Violation` if the number names an
        object, and `Limit` if the frame or the connection brings too many."""
        found = self._promises.get(number) or self._settled.get(number)
        if found is None:
            # Number 0 is the bootstrap. It is an object, also while nobody here holds it.
            if number == 0 or number in self._objects:
                raise Violation("one number is used for an object and for a promise")
            self._brought += 1
            if self._brought > PROMISES:
                raise Limit(f"a frame may bring {PROMISES} new promises: send less at a time")
            self._add(PROMISE)
            vat_promise = VatPromise()
            found = ImportedPromise(self._connection, number, vat_promise)
            vat_promise.along(found)
            self._promises[number] = found
        found.mentions += 1
        return Promise(found.vat_promise)

    def _add(self, weight: int) -> None:
        if len(self._objects) + len(self._promises) + len(self._settled) >= self._most:
            raise Limit("too many references arrived on this connection: release some before you send more")
        self._add_bytes(weight)

    def promised(self, number: int) -> ImportedPromise | None:
        """Returns an imported promise that is not settled."""
        return self._promises.get(number)

    def settled(self, promise: ImportedPromise) -> None:
        """Marks a promise as settled. It stays in the table until `give_back`."""
        if self._promises.pop(promise.slot[1], None) is not None:
            self._settled[promise.slot[1]] = promise

    def give_back(self, promise: ImportedPromise) -> int:
        """Removes a settled promise and returns its mentions. Its number may now name another promise."""
        if self._settled.pop(promise.slot[1], None) is None:
            return 0
        self._add_bytes(-PROMISE)
        return promise.mentions

    def collect(self, number: int) -> int:
        """Removes an object that nobody holds. Returns its mentions, or 0 if it was mentioned again
        meanwhile."""
        entry = self._objects.get(number)
        if entry is None or (entry.ref is not None and entry.ref() is not None):
            return 0
        del self._objects[number]
        return entry.mentions

    def release(self, given: Import, ref: Ref) -> int:
        """Removes an object that the program released. Returns its mentions."""
        given.released = True
        number = given.slot[1]
        entry = self._objects.get(number)
        if entry is None or entry.ref is None or entry.ref() is not ref:
            return 0
        del self._objects[number]
        return entry.mentions

    def clear(self) -> list[ImportedPromise]:
        """The connection is closed. Returns the promises that nobody will settle."""
        promises = list(self._promises.values())
        self._objects.clear()
        self._promises.clear()
        self._settled.clear()
        return promises
