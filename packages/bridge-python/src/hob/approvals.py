"""Approval as a cap: the names of the document that Hob came from.

    cap = approve_once(dangerous_op)
    cap.invoke(args)
    cap, revoke = approve_session(dangerous_op)

A granter's program says for which session it approves (`with hob.approving(granter, session):`); what the session's agent gets is the cap,
and what stays here is the way to end it. `dangerous_op` is the name of what the host offers. These are calls that wait.
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
    """A cap that was approved. Unpacked it is two: `cap, revoke = approve_session(op)`."""

    __slots__ = ("_revoke",)

    def __init__(self, cap: sync.Cap, revoke: Callable[[], None]) -> None:
        super().__init__(cap._of)
        self._revoke = revoke

    def __iter__(self) -> Iterator[sync.Cap | Callable[[], None]]:
        yield sync.Cap(self._of)
        yield self._revoke


class Approvals:
    """A granter who approves for one session."""

    def __init__(self, granter: sync.Granter, session: sync.Session, id: str) -> None:
        self.granter = granter
        self.session = session
        self.id = id
        self.delegate: Final = Delegate(self)

    def approve(self, op: str, *, petname: str | None = None, **terms: Unpack[Terms]) -> Approved:
        """With no terms: for 15 minutes."""
        taken = {grant.petname for grant in self.granter.grants(self.id)}
        names = [petname] if petname is not None else (op if n == 0 else f"{op}-{NUMBERS[n]}" for n in count())
        name = next((each for each in names if each not in taken), None)
        if name is None:
            raise Invalid(f'"{petname}" is taken in this session: a name is bound once')
        grant = self.granter.grant(self.id, name, op, **terms)
        return Approved(self.session[name], lambda: self.granter.revoke(grant.id))

    def approve_once(self, op: str) -> Approved:
        return self.approve(op, scope="once")

    def approve_session(self, op: str) -> Approved:
        return self.approve(op, scope="session")

    def approve_for(self, op: str, *, seconds: float) -> Approved:
        return self.approve(op, seconds=seconds)


# Letters, for no two of these look alike: a petname may not look like another one.
NUMBERS: Final = ["", *"bcdefghjkmnpqrtuvwxy", *(a + b for a in "bcdfghjkpqrt" for b in "aeou")]


class Delegate:
    """Children, which start with what they are handed and nothing else."""

    def __init__(self, of: Approvals | None = None) -> None:
        self._of = of

    def spawn(self, child: str, caps: Iterable[object] = ()) -> sync.Session:
        """A session of its own; where the name is taken it gets another letter."""
        session = (self._of or _current()).session
        handed = list(caps)
        for number in NUMBERS:
            try:
                return session.spawn_child(f"{child}-{number}" if number else child, handed)
            except Invalid as error:
                if "choose another name" not in error.message:
                    raise
        raise Invalid(f'too many children are called "{child}"')


_approvals: Final[ContextVar[Approvals | None]] = ContextVar("hob.approvals", default=None)


def _current() -> Approvals:
    current = _approvals.get()
    if current is None:
        raise Invalid("say who approves for whom: `with hob.approving(granter, session, session_id):`")
    return current


@contextmanager
def approving(granter: sync.Granter, session: sync.Session, session_id: str) -> Iterator[Approvals]:
    """From here on `approve…` and `delegate` are this granter's, for this session."""
    token = _approvals.set(Approvals(granter, session, session_id))
    try:
        yield _current()
    finally:
        _approvals.reset(token)


def approve(op: str, *, petname: str | None = None, **terms: Unpack[Terms]) -> Approved:
    return _current().approve(op, petname=petname, **terms)


def approve_once(op: str) -> Approved:
    return _current().approve_once(op)


def approve_session(op: str) -> Approved:
    return _current().approve_session(op)


def approve_for(op: str, *, seconds: float) -> Approved:
    return _current().approve_for(op, seconds=seconds)


delegate: Final = Delegate()
