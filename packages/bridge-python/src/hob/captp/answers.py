"""A question of the peer's, and what it is answered with.

Promise: it is answered once. Calls on it go where the answer goes, in the order in which they came, also before it is there; on data
they break. What cannot be carried breaks the answer, and so nobody reaches it by way of the answer either.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from ..errors import NotCallable
from ..reference import Promise
from .values import copied
from ..vow import Message, Target, Vow, target_of, to_data, vow_of


class Answering(Protocol):
    def answered(self, answer: PeersQuestion, value: object, /) -> BaseException | None:
        """Says it to the peer; answers why it could not be carried."""
        ...

    def refused(self, answer: PeersQuestion, error: BaseException, /) -> None: ...


class PeersQuestion:
    __slots__ = ("_path", "_session", "_state", "_value", "gone", "number", "of_stream", "running", "told", "weight")

    def __init__(self, session: Answering, number: int, weight: int) -> None:
        self._session = session
        self.number = number
        self.weight = weight
        # The peer was told, or does not want to be.
        self.told = False
        # Whoever asked is gone: what has not begun need not begin.
        self.gone = False
        # The task that works for it.
        self.running: asyncio.Task[Any] | None = None
        # The call itself, where it is one of a stream's.
        self.of_stream: Message | None = None
        self._state = "pending"
        self._value: object = None
        # Where calls on it can go before it is there.
        self._path: Target | None = None

    def fulfil(self, value: object) -> None:
        if self._state == "vow":
            return self._vow().fulfil(value)
        if self._state != "pending":
            return
        vow = vow_of(value)
        if vow is not None:
            self._state = "vow"
            self._value = vow
            return self._tell_of(vow)
        self._state = "fulfilled"
        self._value = value
        self._tell(value)

    def break_(self, error: BaseException) -> None:
        if self._state == "vow":
            return self._vow().break_(error)
        if self._state != "pending":
            return
        self._state = "broken"
        self._value = error
        self._session.refused(self, error)

    def along(self, path: Target) -> None:
        """Calls on it may go on to where it was asked for."""
        if self._state == "vow":
            self._vow().along(path)
        elif self._state == "pending":
            self._path = path

    def hold(self, becoming: Vow | None = None) -> None:
        """They may not any more: what comes waits until it is settled."""
        self._path = None
        if self._state == "vow":
            self._vow().hold(becoming)

    def _vow(self) -> Vow:
        assert isinstance(self._value, Vow)
        return self._value

    def _tell(self, value: object) -> None:
        why = self._session.answered(self, value)
        if why is not None:
            self._state = "broken"
            self._value = why
        elif self._state == "fulfilled":
            # What the program goes on to do with its list is not what it answered.
            self._value = copied(value)

    def _tell_of(self, vow: Vow) -> None:
        vow.watch(self._tell, lambda error: self._session.refused(self, error))

    def as_vow(self) -> Vow:
        """From now on it is a promise, since somebody uses it before it is there."""
        if self._state == "vow":
            return self._vow()
        vow = Vow()
        if self._state == "broken":
            assert isinstance(self._value, BaseException)
            vow.break_(self._value)
            return vow
        self._state = "vow"
        self._value = vow
        if self._path is not None:
            vow.along(self._path)
        self._tell_of(vow)
        return vow

    def post(self, message: Message) -> None:
        """A call on it."""
        if self._state == "pending":
            self.as_vow().post(message)
        elif self._state == "vow":
            self._vow().post(message)
        elif self._state == "broken":
            assert isinstance(self._value, BaseException)
            message.fail(self._value)
        else:
            target = target_of(self._value)
            if target is None:
                message.fail(to_data(message.method))
            else:
                target.post(message)

    def target(self) -> Target | None:
        """Where a call on it would go; None where it is data or broken."""
        if self._state == "vow":
            return self._vow()
        if self._state == "fulfilled":
            return target_of(self._value)
        return self.as_vow() if self._state == "pending" else None

    @property
    def is_copied(self) -> bool:
        """Whether it is a list or a record: whoever gets it gets one of his own."""
        return self._state == "fulfilled" and isinstance(self._value, (list, dict))

    def as_value(self) -> object:
        """As an argument of another call."""
        return copied(self._value) if self._state == "fulfilled" else Promise(self.as_vow())


FORGOTTEN: Final = NotCallable(
    "this answer is data, or you said that you were done with it: only a reference can be sent a message"
)
