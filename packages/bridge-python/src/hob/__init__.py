"""Hob from Python: sessions of capabilities for agents.

    connection = await hob.open_websocket(url, secret)
    print(await E(connection.bootstrap).cap("workspace").readText("notes.txt"))

What needs a socket is imported when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .connection import Connection, Link, Stats
from .data import BigInt, Symbol, Undefined, undefined
from .errors import (
    AsyncBehaviour,
    BecomeFailure,
    CapError,
    Cycle,
    DeadlinePassed,
    Denied,
    Disconnected,
    Exhausted,
    Expired,
    Failed,
    Invalid,
    Limit,
    NoSuchMethod,
    NoSuchObject,
    NotCallable,
    Restarted,
    Revoked,
    Unavailable,
    UnknownOutcome,
    VatHalted,
)
from .far import Far, far
from .limits import Limits
from .reference import E, Promise, Ref, promise

if TYPE_CHECKING:
    from .streams import ByteSource, source
    from .websocket import Refused, open_websocket

_LATER = {
    "ByteSource": "streams",
    "source": "streams",
    "Refused": "websocket",
    "open_websocket": "websocket",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'hob' has no attribute {name!r}")
    found = import_module(f".{module or name}", __name__)
    return getattr(found, name) if module else found


__all__ = [
    "AsyncBehaviour", "BecomeFailure", "BigInt", "ByteSource", "CapError", "Connection", "Cycle", "DeadlinePassed", "Denied", "Disconnected",
    "E", "Exhausted", "Expired", "Failed", "Far", "Invalid", "Limit", "Limits", "Link", "NoSuchMethod", "NoSuchObject", "NotCallable",
    "Promise", "Ref", "Refused", "Restarted", "Revoked", "Stats", "Symbol", "Unavailable", "Undefined", "UnknownOutcome", "VatHalted",
    "far", "open_websocket", "promise", "source", "undefined",
]  # fmt: skip
