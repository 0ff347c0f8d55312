"""Approval as a cap, in the names of the document that Hob came from.

    cap = approve_once(dangerous_op)
    cap.invoke(args)
    cap, revoke = approve_session(dangerous_op)

A granter's program says for which session it approves (`with hob.approving(granter, session):`). The
session's agent gets the cap, and the function that ends it stays here. `dangerous_op` is the name of an offer
of the host. These calls wait for their result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Final, Unpack

from . import sync
from .errors import Invalid
from .terms import Terms


class Approved(sync.Cap):
    """An approved cap. It unpacks as two: `cap, revoke = approve_session(op)`."""

    __slots__ = ("_revoke",)

    def __init__(self, cap: sync.Cap, revoke: Callable[[], None]) -> None:
        super().__init__(cap._of)
        self._revoke = revoke

    def __iter__(self) -> Iterator[sync.Cap | Callable[[], None]]:  # type: ignore[override]
        yield sync.Cap(self._of)
        yield self._revoke


class Approvals:
    """A granter that approves for one session."""

    def __init__(self, granter: sync.Granter, session: sync.Session, id: str) -> None:
        self.granter = granter
        self.session = session
        self.id = id
        self.delegate: Final = Delegate(self)

    def approve(self, op: str, *, petname: str | None = None, **terms: Unpack[Terms]) -> Approved:
        """Grants the offer. Without terms, the grant lasts 15 minutes."""
        taken = {grant.petname for grant in self.granter.grants(self.id)}
        names = [petname] if petname is not None else (op if n == 0 else f"{op}-{NUMBERS[n]}" for n in count())
        name = next((each for each in names if each not in taken), None)
        if name is None:
            raise Invalid(f'this session has a cap called "{petname}" already: choose another name')
        grant = self.granter.grant(self.id, name, op, **terms)
        return Approved(self.session[name], lambda: self.granter.revoke(grant.id))

    def approve_once(self, op: str) -> Approved:
        """Grants one call of the offer."""
        return self.approve(op, scope="once")

    def approve_session(self, op: str) -> Approved:
        """Grants the offer until the session ends."""
        return self.approve(op, scope="session")

    def approve_for(self, op: str, *, seconds: float) -> Approved:
        """Grants the offer for so many seconds."""
        return self.approve(op, seconds=seconds)


# Letters that do not look alike, because a petname must not look like another one.
NUMBERS: Final = ["", *"bcdefghjkmnpqrtuvwxy", *(a + b for a in "bcdfghjkpqrt" for b in "aeou")]


class Delegate:
    """Makes child sessions, which start with the given caps and no others."""

    def __init__(self, of: Approvals | None = None) -> None:
        self._of = of

    def spawn(self, child: str, caps: Iterable[object] = ()) -> sync.Session:
        """Makes a child session. If the name is taken, it gets another letter."""
        session = (self._of or _current()).session
        handed = list(caps)
        for number in NUMBERS:
            try:
                return session.spawn_child(f"{child}-{number}" if number else child, handed)
            except Invalid as error:
                if "choose another name" not in error.message:
                    raise
        raise Invalid(f'too many children are called "{child}": choose another name')


_approvals: Final[ContextVar[Approvals | None]] = ContextVar("hob.approvals", default=None)


def _current() -> Approvals:
    current = _approvals.get()
    if current is None:
        raise Invalid("no approval is set up here: write `with hob.approving(granter, session, session_id):`")
    return current


@contextmanager
def approving(granter: sync.Granter, session: sync.Session, session_id: str) -> Iterator[Approvals]:
    """Inside this context, `approve…` and `delegate` use this granter and this session."""
    token = _approvals.set(Approvals(granter, session, session_id))
    try:
        yield _current()
    finally:
        _approvals.reset(token)


def approve(op: str, *, petname: str | None = None, **terms: Unpack[Terms]) -> Approved:
    """Grants an offer to the session of `hob.approving`. Without terms, the grant lasts 15 minutes."""
    return _current().approve(op, petname=petname, **terms)


def approve_once(op: str) -> Approved:
    """Grants one call of an offer to the session of `hob.approving`."""
    return _current().approve_once(op)


def approve_session(op: str) -> Approved:
    """Grants an offer to the session of `hob.approving` until that session ends."""
    return _current().approve_session(op)


def approve_for(op: str, *, seconds: float) -> Approved:
    """Grants an offer to the session of `hob.approving` for so many seconds."""
    return _current().approve_for(op, seconds=seconds)


delegate: Final = Delegate()
