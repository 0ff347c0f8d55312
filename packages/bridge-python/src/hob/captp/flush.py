"""Finding out that what was sent along a path has arrived.

A promise of a peer's may turn out to be an object of ours. What was sent to it before went to the peer and is on its way back; what is
sent from now on must not overtake it. So a last message goes along the same path and comes home behind the others.
"""

from __future__ import annotations

from collections.abc import Callable

from ..data import undefined
from ..far import Near
from .remote import Remote
from ..vow import FLUSH, Answer, Message, Target, Vow, target_of


class Arrival:
    """Told when a flush is answered, in whatever way: that somebody refused it shows that it arrived."""

    __slots__ = ("_then",)

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def fulfil(self, _value: object) -> None:
        self._then()

    def break_(self, _error: BaseException) -> None:
        self._then()


def flush(target: Target, answer: Answer) -> None:
    """Answers when what was sent to `target` before has gone on."""
    if isinstance(target, Vow):
        if target.path is not None:
            return flush(target.path, answer)

        def settled(value: object) -> None:
            known = target_of(value)
            if known is None:
                answer.fulfil(undefined)
            else:
                flush(known, answer)

        return target.watch(settled, lambda _error: answer.fulfil(undefined))
    if isinstance(target, (Remote, Near)):
        # By the same way, or in the same queue, as the calls before it.
        return target.post(Message(FLUSH, [], answer))
    answer.fulfil(undefined)
