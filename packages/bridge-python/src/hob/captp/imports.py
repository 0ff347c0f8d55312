"""Everything that belongs to the peer: its objects, its promises and its answers to our questions.

Each is a target of messages, which leave by the connection.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Protocol

from ..errors import CapError, NoSuchObject
from ..message import Answer, Message, Target
from ..vat_promise import VatPromise
from .encode import Slot


class PeerConnection(Protocol):
    """The connection, as a remote target sees it."""

    def call(self, through: Remote, message: Message, /) -> None:
        """Sends a message to the peer by way of `through`, or breaks its answer."""
        ...

    def faulted(self, error: Exception, /) -> None:
        """Records a fault of ours and ends the connection."""
        ...
    @property
    def closed(self) -> CapError | None:
        """Set when the connection is closed. Every new message breaks with this error."""
        ...


class Remote(Target):
    """A target at the peer. `slot` names it in frames."""

    __slots__ = ("connection", "sent", "slot")

    def __init__(self, connection: PeerConnection, slot: Slot) -> None:
        self.connection = connection
        self.slot = slot
        """The slot that frames use for it."""
        self.sent = 0
        """Count of messages posted here."""

    def post(self, message: Message) -> None:
        """Sends the message by the connection, and counts it in `sent`."""
        message.to = self
        self.sent += 1
        self.connection.call(self, message)

    @abstractmethod
    def redirect(self, message: Message) -> bool:
        """Takes over a message that can no longer go to the peer. Returns False if it still can."""


class Import(Remote):
    """An object of the peer."""

    __slots__ = ("released",)

    def __init__(self, connection: PeerConnection, number: int) -> None:
        super().__init__(connection, ("yours", number))
        self.released = False

    def redirect(self, message: Message) -> bool:
        """Breaks the message with `NoSuchObject` if the reference was released. Returns whether it was."""
        if self.released:
            message.fail(NoSuchObject("this reference was released: ask for a new one"))
        return self.released


class ImportedPromise(Remote):
    """A promise of the peer. Messages to it go to the peer until it is settled."""

    __slots__ = ("decided", "mentions", "settled", "vat_promise")

    def __init__(self, connection: PeerConnection, number: int, vat_promise: VatPromise) -> None:
        super().__init__(connection, ("yours", number))
        self.vat_promise = vat_promise
        self.mentions = 0
        # The peer has sent the resolution. Settling may still have to wait.
        self.decided = False
        self.settled = False

    def redirect(self, message: Message) -> bool:
        """Passes the message on to the resolution if the promise is settled. Returns whether it is."""
        if self.settled:
            self.vat_promise.post(message)
        return self.settled


class Question(Remote):
    """A question of ours."""

    __slots__ = ("answer", "decided", "settled")

    def __init__(self, connection: PeerConnection, number: int, answer: Answer) -> None:
        super().__init__(connection, ("answer", number))
        self.answer = answer
        self.decided = False
        self.settled = False

    def redirect(self, message: Message) -> bool:
        """Passes the message on to the answer if the question is settled. If the answer takes no messages, the
        message breaks. Returns whether the question is settled."""
        if not self.settled:
            return False
        post = getattr(self.answer, "post", None)
        if post is not None:
            post(message)
        else:
            message.fail(self.connection.closed or NoSuchObject("this answer is gone"))
        return True
