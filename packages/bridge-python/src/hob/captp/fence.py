"""The fence around a connection. Every function that others call (the loop, promises, answers of the
program) enters through it.

Promise: an error that leaves an entry is a fault of ours. It ends this connection with 1011 and is recorded
on this side. The caller, and others that wait behind it, do not see it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Fenced(Protocol):
    """A class with entries. `entry` passes their errors to `faulted`."""

    def faulted(self, error: Exception, /) -> None:
        """Records the error and ends the connection."""
        ...


Self = TypeVar("Self", bound=Fenced)
P = ParamSpec("P")
R = TypeVar("R")


def entry(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R | None]:
    """Makes a method an entry. After a fault it returns None."""

    @functools.wraps(method)
    def fenced(self: Self, /, *args: P.args, **named: P.kwargs) -> R | None:
        try:
            return method(self, *args, **named)
        except Exception as error:
            self.faulted(error)
            return None

    return fenced
