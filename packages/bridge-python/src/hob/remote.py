"""What is the peer's: its objects, its promises, its answers to our questions. Each is a target of messages, which leave by the connection."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol

from .errors import CapError, Limit, NoSuchObject, Violation
from .limits import IMPORT, PROMISE
from .reference import Promise, Ref
from .vow import Answer, Message, Target, Vow


class Exit(Protocol):
    """The end of a connection that messages leave by."""

    def call(self, through: Remote, message: Message, /) -> None: ...
    def closed(self) -> CapError | None:
        """Why nothing leaves any more."""
        ...


class Remote(Target):
    __slots__ = ("exit", "number", "sent")
    asks = False
    """Named by a question of ours, and not by an export of the peer's."""

    def __init__(self, exit_: Exit, number: int) -> None:
        self.exit = exit_
        self.number = number
        # Messages that were to go this way.
        self.sent = 0

    def post(self, message: Message) -> None:
        self.sent += 1
        self.exit.call(self, message)

    @abstractmethod
    def instead(self, message: Message) -> bool:
        """Takes a message that comes too late to go this way; False where it still can."""


class Import(Remote):
    """An object of the peer's."""

    __slots__ = ("released",)

    def __init__(self, exit_: Exit, number: int) -> None:
        super().__init__(exit_, number)
        self.released = False

    def instead(self, message: Message) -> bool:
        if self.released:
            message.fail(NoSuchObject("this reference was released: ask for a new one"))
        return self.released


class ImportedPromise(Remote):
    """A promise of the peer's: what is sent to it goes there until it is known what it became."""

    __slots__ = ("decided", "mentions", "over", "vow")

    def __init__(self, exit_: Exit, number: int, vow: Vow) -> None:
        super().__init__(exit_, number)
        self.vow = vow
        self.mentions = 0
        # The peer has said what it became, which may have to wait.
        self.decided = False
        self.over = False

    def instead(self, message: Message) -> bool:
        if self.over:
            self.vow.post(message)
        return self.over


class Question(Remote):
    """A question of ours."""

    __slots__ = ("answer", "decided", "over")
    asks = True

    def __init__(self, exit_: Exit, number: int, answer: Answer) -> None:
        super().__init__(exit_, number)
        self.answer = answer
        self.decided = False
        self.over = False

    def instead(self, message: Message) -> bool:
        if not self.over:
            return False
        post = getattr(self.answer, "post", None)
        if post is not None:
            post(message)
        else:
            message.fail(self.exit.closed() or NoSuchObject("this answer is gone"))
        return True


class _Entry:
    __slots__ = ("mentions", "ref")

    def __init__(self) -> None:
        self.ref: weakref.ref[Ref] | None = None
        self.mentions = 0


class Imports:
    """What the peer gave us, by its numbers: its objects for as long as somebody here holds them, its promises until they are settled.

    Promise: one object has one reference; every mention is counted, also while nobody held it, so that what is given back is
    what was had.
    """

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
            if number in self._objects:
                raise Violation("one number is an object and a promise")
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
