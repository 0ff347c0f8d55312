"""The errors that a call can break with. Each code has a class, and all are `CapError`.

Promise: programs decide by the class or by `.code`. The text is for people and names the remedy. The set is
closed: a code that is not in it (such as `NOT_FOUND` of a directory) comes as a plain `CapError` with that
code.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 4000
CODE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}\Z")
NAMELESS: Final = "the call failed at its target, which gives no reason"


class CapError(Exception):
    """A call broke. Programs decide by `code`."""

    code: str = "error"

    def __init__(self, message: str, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code

    @property
    def message(self) -> str:
        """The text for people."""
        return str(self.args[0]) if self.args else ""

    def again(self) -> CapError:
        """Returns a copy. An error that is raised twice would collect the traces of both."""
        return type(self)(self.message, self.code)

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return type(self), (self.message, self.code)


class Revoked(CapError):
    """A granter ended the grant."""

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
    """There is no such object here."""

    code = "no-such-object"


class Unavailable(CapError):
    """It exists, but cannot work now."""

    code = "unavailable"


class UnknownOutcome(CapError):
    """It may have happened or not: check before you repeat it."""

    code = "unknown-outcome"


class DeadlinePassed(UnknownOutcome):
    """No answer came before the deadline of the caller. The call may still happen."""


class Disconnected(CapError):
    """The connection is over: enter again."""

    code = "disconnected"


class Restarted(CapError):
    """The host has restarted since."""

    code = "restarted"


class Limit(CapError):
    """More than is allowed."""

    code = "limit"


class Invalid(CapError):
    """The request makes no sense there."""

    code = "invalid"


class NoSuchMethod(CapError):
    """The object has no method of that name."""

    code = "no-such-method"


class NotCallable(CapError):
    """Only a reference can be sent a message."""

    code = "not-callable"


class AsyncBehaviour(CapError):
    """An actor of the host returned a promise that its vat did not make."""

    code = "async-behaviour"


class BecomeFailure(CapError):
    """An actor of the host became something that it must not become."""

    code = "become-failure"


class VatHalted(CapError):
    """The vat of the object is closed."""

    code = "vat-halted"


class Cycle(CapError):
    """A promise was resolved to itself."""

    code = "cycle"


class Failed(CapError):
    """The call failed for a reason that does not leave the host. The host's log has it."""

    code = "error"


CLASSES: Final[dict[str, type[CapError]]] = {
    one.code: one
    for one in (
        Revoked, Expired, Exhausted, Denied, NoSuchObject, Unavailable, UnknownOutcome, Disconnected, Restarted, Limit,
        Invalid, NoSuchMethod, NotCallable, AsyncBehaviour, BecomeFailure, VatHalted, Cycle, Failed,
    )
}  # fmt: skip


def of_code(code: str, message: str) -> CapError:
    """Returns an error of the class for this code."""
    return CLASSES.get(code, CapError)(message, code)


def inward(code: str, message: str) -> CapError:
    """Returns the error for a code and a message of a peer."""
    return of_code(code if CODE.match(code) else "error", message[:LONGEST] or NAMELESS)


class Violation(Exception):
    """The peer broke the rules of the wire: the connection closes with this reason."""

    def __init__(self, reason: str, code: int = 4400) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
