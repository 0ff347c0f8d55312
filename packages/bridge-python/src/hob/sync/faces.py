"""The classes of `hob.sync`: each method calls the one of the same name for asyncio, and waits for its result.

Written by `generate_sync.py`. Change the classes for asyncio, and run that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

from .calls import Cap
from ..granter import Grant, Granter as AsyncGranter
from ..sessions import Child as AsyncChild, Session as AsyncSession
from .base import Face, SessionFace, enter
from ..terms import Terms


class Session(SessionFace):
    """`hob.Session`, with methods that wait."""

    _async: AsyncSession

    @property
    def root(self) -> Cap:
        """The bootstrap of the host."""
        result: Cap = self._read("root")
        return result

    def enter_again(self) -> None:
        """Enters again after the connection was lost. A call that was under way may have happened: check
        before you repeat it. The caps have to be taken again."""
        self._call("enter_again")

    def ended(self) -> tuple[int, str]:
        """Waits for the end of the connection. Returns its code and reason. 4403: the session itself has
        ended."""
        result: tuple[int, str] = self._call("ended")
        return result

    def caps(self) -> list[str]:
        """Returns the petnames of the session."""
        result: list[str] = self._call("caps")
        return result

    def petname_of(self, cap: object) -> str:
        """Returns the petname under which this session holds a cap."""
        result: str = self._call("petname_of", cap)
        return result

    def request(self, asks: str, why: str='', **terms: Unpack[Terms]) -> Cap:
        """Asks a person for an offer of the host, or for more of a held cap. The promise becomes the cap, or
        breaks with `Denied`."""
        result: Cap = self._call("request", asks, why, **terms)
        return result

    def spawn_child(self, name: str, caps: Mapping[str, object] | Iterable[object]=()) -> Child:
        """Makes a child session with these caps and no others: `{its name: cap or name}`, or a list of caps
        or names."""
        return Child(self._call("spawn_child", name, caps))

    def call(self, cap: str, method: str, /, *args: Any, **named: Any) -> Any:
        """Calls a cap that this session holds. If the await is cancelled, the host cancels the call, and so does the
        program behind the cap. Arguments are data."""
        result: Any = self._call("call", cap, method, *args, **named)
        return result

    def resolve(self, url: str) -> Cap:
        """Returns the cap behind an object URL that was made in this session."""
        result: Cap = self._call("resolve", url)
        return result

    def rotate(self) -> str:
        """Changes the secret, which this object uses from now on. The old one ends when the new one is first
        used."""
        result: str = self._call("rotate")
        return result


class Child(Session):
    """A child session, which is entered already. Anyone who has its secret can enter it."""

    def __init__(self, child: AsyncChild) -> None:
        super().__init__(enter(child))
        self._child = child

    def __repr__(self) -> str:
        return f"<hob.sync.Child {self.id}>"

    @property
    def id(self) -> str:
        """The id of the session, for a granter."""
        return self._child.id

    @property
    def secret(self) -> str:
        """The secret of the session, until it is rotated."""
        return self._child.secret

    def enter(self) -> Session:
        """Enters the session once more. The new connection takes the place of this one."""
        return Session(enter(self._child))


class Granter(Face):
    """`hob.Granter`, with methods that wait."""

    _async: AsyncGranter

    @property
    def root(self) -> Cap:
        """The bootstrap of the host."""
        result: Cap = self._read("root")
        return result

    def enter_again(self) -> None:
        """Enters again after the connection was lost. A call that was under way may have happened: check
        before you repeat it."""
        self._call("enter_again")

    def ended(self) -> tuple[int, str]:
        """Waits for the end of the connection. Returns its code and reason. 4403: the session itself has
        ended."""
        result: tuple[int, str] = self._call("ended")
        return result

    def sessions(self) -> list[dict[str, Any]]:
        """Returns the sessions of this granter."""
        result: list[dict[str, Any]] = self._call("sessions")
        return result

    def grant(self, session: str, petname: str, offered: str, **terms: Unpack[Terms]) -> Grant:
        """Grants an offer of the host to a session."""
        result: Grant = self._call("grant", session, petname, offered, **terms)
        return result

    def delegate(self, from_: str, petname: str, to: str, *, as_: str | None=None, **terms: Unpack[Terms]) -> Grant:
        """Delegates a cap of a session to its child."""
        result: Grant = self._call("delegate", from_, petname, to, as_=as_, **terms)
        return result

    def grants(self, session: str | None=None, *, live: bool=False) -> list[Grant]:
        """Returns the grants that it made, all or those of one session. `live`: only those that allow calls."""
        result: list[Grant] = self._call("grants", session, live=live)
        return result

    def revoke(self, grant: str | None=None, *, session: str | None=None, all: bool=False, why: str='') -> None:
        """Revokes grants. Returns when this is durable and every driver has stopped."""
        self._call("revoke", grant, session=session, all=all, why=why)

    def narrow(self, grant: str, **terms: Unpack[Terms]) -> Grant:
        """Takes uses, time or methods away from a grant."""
        result: Grant = self._call("narrow", grant, **terms)
        return result

    def renew(self, grant: str, until: float) -> Grant:
        """Moves the end of a grant to `until`, in seconds since 1970."""
        result: Grant = self._call("renew", grant, until)
        return result

    def confirm(self, grant: str) -> Grant:
        """Confirms a grant that is suspended because the store was put back."""
        result: Grant = self._call("confirm", grant)
        return result

    def end(self, session: str, why: str='') -> None:
        """Ends a session and its grants."""
        self._call("end", session, why)

    def inbox(self) -> list[dict[str, Any]]:
        """Returns the open requests of its sessions, as the host shows them."""
        result: list[dict[str, Any]] = self._call("inbox")
        return result

    def approve(self, request: dict[str, Any], *, as_: str | None=None, **terms: Unpack[Terms]) -> None:
        """Approves a request as it was shown: the digest binds it. Without terms, it grants the requested
        ones. With terms, it grants these, which must be narrower; wider ones raise `Invalid`. A term that is
        left out stays as requested."""
        self._call("approve", request, as_=as_, **terms)

    def refuse(self, request: dict[str, Any], why: str, *, lasting: bool=False) -> None:
        """Refuses a request. The agent gets the reason. `lasting`: also when it asks again."""
        self._call("refuse", request, why, lasting=lasting)

    def verify(self) -> Any:
        """Verifies the ledger of the host."""
        result: Any = self._call("verify")
        return result
