"""What a call can break with: one class a code, all of them `CapError`.

Promise: programs decide by the class or by `.code`; the text is for people and names the remedy. The set is closed: a code
that is not in it (a directory's `NOT_FOUND`) comes as a plain `CapError` with that code.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 4000
CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
NAMELESS: Final = "the call failed at its target, which gives no reason"


class CapError(Exception):
    """A call that broke. `code` is a word that programs decide by."""

    code: str = "error"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        return str(self.args[0]) if self.args else ""

    def again(self) -> CapError:
        """A new one that says the same: one that is raised twice would collect the traces of both."""
        return type(self)(self.message, self.code)

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return type(self), (self.message, self.code)


class Revoked(CapError):
    """Somebody ended the grant."""

    code = "revoked"


class Expired(CapError):
    """The time of the grant is over."""

    code = "expired"


class Exhausted(CapError):
    """The uses of the grant are spent."""

    code = "exhausted"


class Denied(CapError):
    """A person, or the terms of the grant, said no."""

    code = "denied"


class NoSuchObject(CapError):
    """Nothing of that name is held here."""

    code = "no-such-object"


class Unavailable(CapError):
    """It is there, and cannot work now."""

    code = "unavailable"


class UnknownOutcome(CapError):
    """It may have happened or not: look before you repeat it."""

    code = "unknown-outcome"


class DeadlinePassed(UnknownOutcome):
    """No answer came in the time that the caller gave. The call may happen all the same."""


class Disconnected(CapError):
    """The connection is over: enter again."""

    code = "disconnected"


class Restarted(CapError):
    """The host was started anew since."""

    code = "restarted"


class Limit(CapError):
    """More than may be."""

    code = "limit"


class Invalid(CapError):
    """What was asked for makes no sense there."""

    code = "invalid"


class NoSuchMethod(CapError):
    """The object has no method of that name."""

    code = "no-such-method"


class NotCallable(CapError):
    """Only a reference can be sent a message."""

    code = "not-callable"


class AsyncBehaviour(CapError):
    """An actor of the host answered with a promise that its vat did not make."""

    code = "async-behaviour"


class BecomeFailure(CapError):
    """An actor of the host became what it cannot become."""

    code = "become-failure"


class VatHalted(CapError):
    """The vat of the object is closed."""

    code = "vat-halted"


class Cycle(CapError):
    """A promise was resolved to itself."""

    code = "cycle"


class Failed(CapError):
    """It failed with what is nobody else's business: the host's log has the rest."""

    code = "error"


CLASSES: Final[dict[str, type[CapError]]] = {
    one.code: one
    for one in (
        Revoked, Expired, Exhausted, Denied, NoSuchObject, Unavailable, UnknownOutcome, Disconnected, Restarted, Limit,
        Invalid, NoSuchMethod, NotCallable, AsyncBehaviour, BecomeFailure, VatHalted, Cycle, Failed,
    )
}  # fmt: skip


def of_code(code: str, message: str) -> CapError:
    return CLASSES.get(code, CapError)(message, code)


def inward(code: str, message: str) -> CapError:
    """An error of a peer's."""
    return of_code(code if CODE.match(code) else "error", message[:LONGEST] or NAMELESS)


class Violation(Exception):
    """The peer broke the rules of the wire: the connection closes with this reason."""

    def __init__(self, reason: str, code: int = 4400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
