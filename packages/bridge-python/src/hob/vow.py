"""Promises, seen from inside: where messages wait until it is known whom they are for.

Promise: messages to a promise reach what it becomes in the order in which they were sent, also when that is another promise. One
that becomes data, itself, or an error breaks what waits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeVar, Union

from .errors import Cycle, NoSuchMethod, NotCallable


class Answer(Protocol):
    """Who is told what comes of a call. It may also have `along(path)` and `hold()`: see `Question`."""

    def fulfil(self, value: object, /) -> None: ...
    def break_(self, error: BaseException, /) -> None: ...


class Message:
    """A call under way. Without `answer` none is wanted."""

    __slots__ = ("answer", "args", "method", "to")

    def __init__(self, method: str, args: list[object], answer: Answer | None) -> None:
        self.method = method
        self.args = args
        self.answer = answer
        self.to: Target | None = None
        """Where it went, as far as is known."""

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

T = TypeVar("T")
Many = list[Union[T, "Many[T]"]]
"""A list to which whole lists are appended: linking promises costs the same however much waits at them."""

Watcher = tuple[Callable[[object], None], Callable[[BaseException], None]]

# One after the other: the answers of what waits may be waited for in turn, deeper than any stack.
_settled: deque[Vow] = deque()
_telling = False


class Vow(Target):
    __slots__ = ("_becoming", "_path", "_shortened", "_state", "_value", "_waiting", "_watchers")

    def __init__(self) -> None:
        self._state = "pending"
        self._value: object = None
        self._waiting: Many[Message] | None = None
        self._watchers: Many[Watcher] | None = None
        # Told when this becomes a promise that a peer decides.
        self._shortened: Many[Callable[[], None]] | None = None
        # What it is going to be, as soon as what was sent to it before has arrived there.
        self._becoming: Vow | None = None
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
        for message in _each(waiting):
            path.post(message)
        self._tell_shortened()

    def hold(self, becoming: Vow | None = None) -> None:
        """Messages wait again until it is settled; `becoming`: with what, where that is a promise."""
        self._path = None
        if self._state == "pending":
            self._becoming = becoming

    def waits_for(self, vow: Vow) -> bool:
        """Whether this can be settled only once `vow` is: it is that, or is going to be."""
        at: Vow | None = self.end()
        while at is not None:
            if at is vow:
                return True
            at = None if at._becoming is None else at._becoming.end()
        return False

    def watch_shortening(self, tell: Callable[[], None]) -> None:
        """Calls back once where this becomes a promise that a peer decides."""
        end = self.end()
        if end._state != "pending":
            return
        if end._path is not None:
            return tell()
        if end._shortened is None:
            end._shortened = []
        end._shortened.append(tell)

    def _tell_shortened(self) -> None:
        """Once: who is told and cannot use it hears of it when it is settled."""
        told, self._shortened = self._shortened, None
        for tell in _each(told):
            tell()

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
        if end.waits_for(self):
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
        self._path = self._becoming = self._shortened = None
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
            for message in _each(waiting):
                if self._state == "broken":
                    message.fail(self._value)  # type: ignore[arg-type]
                else:
                    _forward(message, self._value)
            self._waiting = None
        watchers, self._watchers = self._watchers, None
        for fulfilled, broken in _each(watchers):
            if self._state == "broken":
                broken(self._value)  # type: ignore[arg-type]
            else:
                fulfilled(self._value)

    def _link(self, end: Vow) -> None:
        waiting, watchers, shortened = self._waiting, self._watchers, self._shortened
        self._state = "linked"
        self._value = end
        self._path = self._becoming = None
        self._waiting = self._watchers = self._shortened = None
        # Whoever sends through us from now on comes after what waits here, so appending keeps the order of every sender.
        if waiting is not None and end._path is not None:
            for message in _each(waiting):
                end.post(message)
        elif waiting is not None:
            end._waiting = _joined(end._waiting, waiting)
        if watchers is not None:
            end._watchers = _joined(end._watchers, watchers)
        if shortened is not None:
            end._shortened = _joined(end._shortened, shortened)
            if end._path is not None:
                end._tell_shortened()


def _joined(some: Many[T] | None, more: Many[T]) -> Many[T]:
    if some is None:
        return more
    some.append(more)
    return some


def _each(many: Many[T] | None) -> Iterator[T]:
    """In order, with what is added meanwhile. Not by recursion: lists may be nested as deep as promises were linked."""
    if many is None:
        return
    inside: list[tuple[Many[T], int]] = [(many, 0)]
    while inside:
        here, at = inside.pop()
        if at >= len(here):
            continue
        one = here[at]
        inside.append((here, at + 1))
        if isinstance(one, list):
            inside.append((one, 0))
        else:
            yield one


def _forward(message: Message, value: object) -> None:
    target = target_of(value)
    if target is None:
        message.fail(to_data(message.method))
    else:
        target.post(message)
