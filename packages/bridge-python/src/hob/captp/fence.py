"""The fence around a connection: what others call at any time (the loop, promises, answers of the program) goes through here.

Promise: an error that comes out of an entry is a fault of ours. It ends this connection with 1011, is noted on this side, and goes no further:
whoever called, and what waits behind him, loses nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar


class Fenced(Protocol):
    def faulted(self, error: Exception, /) -> None:
        """Notes the error, and ends the connection."""
        ...


Self = TypeVar("Self", bound=Fenced)
P = ParamSpec("P")
R = TypeVar("R")


def entry(method: Callable[Concatenate[Self, P], R]) -> Callable[Concatenate[Self, P], R | None]:
    @functools.wraps(method)
    def fenced(self: Self, /, *args: P.args, **named: P.kwargs) -> R | None:
        try:
            return method(self, *args, **named)
        except Exception as error:
            self.faulted(error)
            return None

    return fenced
