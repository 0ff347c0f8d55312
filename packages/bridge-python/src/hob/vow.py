"""Promises, seen from inside: where messages wait until it is known whom they are for.

Promise: messages to a promise reach what it becomes in the order in which they were sent, also when that is another promise. One
that becomes data, itself, or an error breaks what waits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from .errors import Cycle, NoSuchMethod, NotCallable


class Answer(Protocol):
    """Who is told what comes of a call. It may also have `along(path)` and `hold()`: see `Question`."""

    def fulfil(self, value: object, /) -> None: ...
    def break_(self, error: BaseException, /) -> None: ...


class Message:
    """A call under way. Without `answer` none is wanted."""

    __slots__ = ("answer", "args", "method")

    def __init__(self, method: str, args: list[object], answer: Answer | None) -> None:
        self.method = method
        self.args = args
        self.answer = answer

    def fail(self, error: BaseException) -> None:
        if self.answer is not None:
            self.answer.break_(error)


class Target(ABC):
    """Whatever messages can be sent to."""

    __slots__ = ("__weakref__",)

    @abstractmethod
    def post(self, message: Message) -> None: ...


FLUSH: Final = "__flush__"
"""A call of it is answered when the calls before it, by the same way, were delivered or sent on. No object gets it."""

NEVER: Final = frozenset({"then", "constructor", "__proto__"})
LONGEST_METHOD: Final = 1024


def no_method(method: str) -> NoSuchMethod:
    return NoSuchMethod(f'no object has a method "{method[:64]}"')


def to_data(method: str) -> NotCallable:
    return NotCallable(f'"{method[:64]}" was sent to data: only a reference can be sent a message')


target_of: Callable[[object], Target | None]
"""Set by `reference`: the target of a reference, None for anything else."""
vow_of: Callable[[object], Vow | None]
"""Set by `reference`: the vow behind a promise, None for anything else."""

Watcher = tuple[Callable[[object], None], Callable[[BaseException], None]]

# One after the other: the answers of what waits may be waited for in turn, deeper than any stack.
_settled: deque[Vow] = deque()
_telling = False


class Vow(Target):
    __slots__ = ("_path", "_state", "_value", "_waiting", "_watchers")

    def __init__(self) -> None:
        self._state = "pending"
        self._value: object = None
        self._waiting: list[Message] | None = None
        self._watchers: list[Watcher] | None = None
        # Where messages go while it is pending: to the peer that will decide it.
        self._path: Target | None = None

    def end(self) -> Vow:
        """Where a chain of linked promises ends."""
        end = self
        while end._state == "linked":
            end = end._value  # type: ignore[assignment]
        if end is not self:
            self._value = end
        return end

    @property
    def state(self) -> str:
        return self.end()._state

    @property
    def value(self) -> object:
        """What it was fulfilled or broken with."""
        return self.end()._value

    @property
    def path(self) -> Target | None:
        return self.end()._path

    def post(self, message: Message) -> None:
        end = self.end()
        if end._path is not None:
            end._path.post(message)
        # Also while those that waited are on their way: it must not overtake them.
        elif end._state == "pending" or end._waiting is not None:
            if end._waiting is None:
                end._waiting = []
            end._waiting.append(message)
        elif end._state == "broken":
            message.fail(end._value)  # type: ignore[arg-type]
        else:
            _forward(message, end._value)

    def along(self, path: Target) -> None:
        """From now on messages go along `path`, those that wait first."""
        end = self.end()
        if end is not self or self._state != "pending":
            return
        waiting, self._waiting = self._waiting, None
        self._path = path
        for message in waiting or ():
            path.post(message)

    def hold(self) -> None:
        """Messages wait again until it is settled."""
        self._path = None

    def watch(self, fulfilled: Callable[[object], None], broken: Callable[[BaseException], None]) -> None:
        """Calls back, at once where it is settled."""
        end = self.end()
        if end._state == "pending":
            if end._watchers is None:
                end._watchers = []
            end._watchers.append((fulfilled, broken))
        elif end._state == "broken":
            broken(end._value)  # type: ignore[arg-type]
        else:
            fulfilled(end._value)

    def fulfil(self, value: object) -> None:
        if self._state != "pending":
            return
        other = vow_of(value)
        if other is None:
            return self._settle("fulfilled", value)
        end = other.end()
        if end is self:
            return self.break_(Cycle("a promise was resolved to itself: resolve it to something else"))
        if end._state != "pending":
            return self._settle(end._state, end._value)
        self._link(end)

    def break_(self, error: BaseException) -> None:
        if self._state == "pending":
            self._settle("broken", error)

    def _settle(self, state: str, value: object) -> None:
        global _telling
        self._state = state
        self._value = value
        self._path = None
        if self._waiting is None and self._watchers is None:
            return
        _settled.append(self)
        if _telling:
            return
        _telling = True
        try:
            while _settled:
                _settled.popleft()._tell()
        finally:
            _telling = False

    def _tell(self) -> None:
        waiting = self._waiting
        if waiting is not None:
            at = 0
            # With what is added meanwhile.
            while at < len(waiting):
                message = waiting[at]
                at += 1
                if self._state == "broken":
                    message.fail(self._value)  # type: ignore[arg-type]
                else:
                    _forward(message, self._value)
            self._waiting = None
        watchers, self._watchers = self._watchers, None
        for fulfilled, broken in watchers or ():
            if self._state == "broken":
                broken(self._value)  # type: ignore[arg-type]
            else:
                fulfilled(self._value)

    def _link(self, end: Vow) -> None:
        waiting, watchers = self._waiting, self._watchers
        self._state = "linked"
        self._value = end
        self._path = None
        self._waiting = self._watchers = None
        for message in waiting or ():
            end.post(message)
        if watchers is not None:
            if end._watchers is None:
                end._watchers = watchers
            else:
                end._watchers.extend(watchers)


def _forward(message: Message, value: object) -> None:
    target = target_of(value)
    if target is None:
        message.fail(to_data(message.method))
    else:
        target.post(message)
