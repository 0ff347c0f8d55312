"""Finds out when the messages sent along a path have arrived.

A promise of a peer may resolve to an object of ours. Messages sent to the promise before went to the peer and
are on their way back. Messages sent from now on must not overtake them. So a last message, a call of
`__flush__`, follows them along the same path and comes back behind them.
"""

from __future__ import annotations

from collections.abc import Callable

from ..data import undefined
from ..far import Near
from ..message import FLUSH, Answer, Message, Target, target_of
from ..vat_promise import VatPromise
from .imports import Remote


class Arrival:
    """Calls `then` when a flush is answered, in any way: a refusal shows too that it arrived."""

    __slots__ = ("_then",)

    def __init__(self, then: Callable[[], None]) -> None:
        self._then = then

    def fulfil(self, _value: object) -> None:
        """Calls `then`: the flush was answered."""
        self._then()

    def break_(self, _error: BaseException) -> None:
        """Calls `then`: the flush was refused, so it has arrived."""
        self._then()


def flush(target: Target, answer: Answer) -> None:
    """Fulfils `answer` when the earlier messages to `target` have gone on."""
    if isinstance(target, VatPromise):
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
        # The flush goes the same way, or into the same queue, as the calls before it.
        return target.post(Message(FLUSH, [], answer))
    answer.fulfil(undefined)
