"""Messages: calls under way, whatever they can be sent to, and who is told the result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final, Protocol

from .errors import NoSuchMethod, NotCallable


class Answer(Protocol):
    """Is told the result of a call.

    An answer to which messages can be pipelined also has `along`, `hold`, `awaited_by` and `post`: see
    `VatPromise`.
    """

    def fulfil(self, value: object, /) -> None:
        """The call returned this value."""
        ...
    def break_(self, error: BaseException, /) -> None:
        """The call raised this error."""
        ...


class Message:
    """A call under way. `answer` is None if the caller wants no answer."""

    __slots__ = ("answer", "args", "method", "to")

    def __init__(self, method: str, args: list[object], answer: Answer | None) -> None:
        self.method = method
        self.args = args
        self.answer = answer
        self.to: Target | None = None
        """The last target that received the message, as far as is known."""

    def fail(self, error: BaseException) -> None:
        """Breaks the answer, if anybody wants one."""
        if self.answer is not None:
            self.answer.break_(error)


class Target(ABC):
    """Anything that messages can be sent to."""

    __slots__ = ("__weakref__",)

    @abstractmethod
    def post(self, message: Message) -> None:
        """Accepts a message. Delivers it later, or breaks its answer."""
        ...


class Addressed:
    """What a program holds of a target: a reference, or an object of its own that it may offer."""

    __slots__ = ()

    def __hob_target__(self) -> Target:
        raise NotImplementedError


def target_of(value: object) -> Target | None:
    """Returns the target of a reference or a far object, and None for anything else."""
    return value.__hob_target__() if isinstance(value, Addressed) else None


FLUSH: Final = "__flush__"
"""A call of this method returns when all earlier calls on the same path were delivered or forwarded. No
object receives it."""

LONGEST_METHOD: Final = 1024
_NEVER: Final = frozenset({"then", "constructor", "__proto__"})


def is_method(name: str) -> bool:
    """Returns whether a method can have this name."""
    return name not in _NEVER and len(name) <= LONGEST_METHOD


def no_method(method: str) -> NoSuchMethod:
    """Returns the error for a method that is not there."""
    return NoSuchMethod(f'no object has a method "{method[:64]}"')


def to_data(method: str) -> NotCallable:
    """Returns the error for a message to a value that is no reference."""
    return NotCallable(f'"{method[:64]}" was sent to data: only a reference can be sent a message')
