"""Hob from Python: sessions of capabilities for agents.

    session = await hob.connect(url, secret)
    print(await E(session["workspace"]).readText("notes.txt"))

Modules that need a socket are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .captp.connection import Connection, Stats
from .captp.limits import Limits
from .captp.outbound import Link
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
from .reference import E, Promise, Ref, promise

if TYPE_CHECKING:
    from . import sync, tools
    from .approvals import Approvals, Delegate, approve, approve_for, approve_once, approve_session, approving, delegate
    from .entry import enter
    from .granter import Granter, connect_granter
    from .hosting import Host, HostGranter, Offered, Opened, Question, verbs_of
    from .sessions import Child, Session, connect
    from .streams import ByteSource, source
    from .websocket import Refused, open_websocket

__version__ = "0.1.0"
"""That of the distribution `hob-caps`."""

_LATER = {
    "Approvals": "approvals",
    "Child": "sessions",
    "Delegate": "approvals",
    "approve": "approvals",
    "approve_for": "approvals",
    "approve_once": "approvals",
    "approve_session": "approvals",
    "approving": "approvals",
    "delegate": "approvals",
    "enter": "entry",
    "Granter": "granter",
    "connect_granter": "granter",
    "Host": "hosting",
    "HostGranter": "hosting",
    "Offered": "hosting",
    "Opened": "hosting",
    "Question": "hosting",
    "verbs_of": "hosting",
    "Session": "sessions",
    "connect": "sessions",
    "ByteSource": "streams",
    "source": "streams",
    "Refused": "websocket",
    "open_websocket": "websocket",
    "sync": "",
    "tools": "",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    module = _LATER.get(name)
    if module is None:
        raise AttributeError(f"module 'hob' has no attribute {name!r}")
    found = import_module(f".{module or name}", __name__)
    return getattr(found, name) if module else found


__all__ = [
    "Approvals", "AsyncBehaviour", "BecomeFailure", "BigInt", "ByteSource", "CapError", "Child", "Connection", "Cycle", "DeadlinePassed",
    "Delegate", "Denied", "Disconnected", "E", "Exhausted", "Expired", "Failed", "Far", "Granter", "Host", "HostGranter", "Invalid", "Limit", "Limits", "Link",
    "NoSuchMethod", "NoSuchObject", "NotCallable", "Offered", "Opened", "Promise", "Question", "Ref", "Refused", "Restarted", "Revoked", "Session", "Stats",
    "Symbol", "Unavailable", "Undefined", "UnknownOutcome", "VatHalted", "__version__", "approve", "approve_for", "approve_once",
    "approve_session", "approving", "connect", "connect_granter", "delegate", "enter", "far", "open_websocket", "promise", "source", "sync", "tools",
    "undefined", "verbs_of",
]  # fmt: skip
