"""What is the peer's: its objects, its promises, its answers to our questions. Each is a target of messages, which leave by the connection."""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from ..errors import CapError, NoSuchObject
from ..vow import Answer, Message, Target, Vow


class Exit(Protocol):
    """The end of a connection that messages leave by."""

    def call(self, through: Remote, message: Message, /) -> None: ...
    def faulted(self, error: Exception, /) -> None:
        """Notes a fault of ours, and ends the connection."""
        ...
    @property
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
        message.to = self
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
            message.fail(self.exit.closed or NoSuchObject("this answer is gone"))
        return True
