"""The client of a granter: grants to sessions, their state, and the way to end them. The secret belongs to a
person. It must not be in the process of an agent.

    granter = await hob.connect_granter(url, secret)
    grant = await granter.grant(session_id, "workspace", "directory", uses=3)
    await granter.revoke(grant.id)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

from .errors import Invalid
from .captp.limits import Limits
from .reference import E
from .sessions import Entered
from .terms import Terms, completed, on_the_wire
from .websocket import open_websocket


@dataclass(frozen=True, slots=True)
class Grant:
    """A grant as its granter sees it."""

    id: str
    session: str
    petname: str
    granter: str
    offered: str
    state: str
    """`live`, `revoked`, `expired`, `exhausted`, `suspended`."""
    until: float
    """Seconds since 1970."""
    parent: str | None = None
    uses_left: int | None = None
    what: str = ""
    """What people call the offer, quoted."""
    where: str | None = None
    """Where it is on the host, quoted. Never give it to an agent."""
    made_until: float | None = None
    """The latest end of the objects that its calls made (the term `made`), in seconds since 1970."""
    asks: bool = False
    """The grant asks first: a call waits until a granter has granted its request."""
    waits: str | None = None
    """`every`: each call waits until a granter approves it. `some`: calls of some methods wait."""
    drafts: bool = False
    """Calls of some methods are kept as drafts."""


def _grant(said: dict[str, Any]) -> Grant:
    return Grant(
        id=said["id"],
        session=said["session"],
        petname=said["petname"],
        granter=said["granter"],
        offered=said["offered"],
        state=said["state"],
        until=said["until"] / 1000,
        parent=said.get("parent"),
        uses_left=said.get("usesLeft"),
        what=said.get("what", ""),
        where=said.get("where"),
        made_until=said["madeUntil"] / 1000 if "madeUntil" in said else None,
        asks=said.get("asks", False),
        waits=said.get("waits"),
        drafts=said.get("drafts", False),
    )


class Granter(Entered):
    """A granter, for the sessions that name it."""

    def __repr__(self) -> str:
        return f"<hob.Granter at {self.url}>"

    async def sessions(self) -> list[dict[str, Any]]:
        """Returns the sessions of this granter."""
        found: list[dict[str, Any]] = []
        while page := await E(self.root).sessions(*([found[-1]["id"]] if found else [])):
            found += page
        return found

    async def grant(self, session: str, petname: str, offered: str, **terms: Unpack[Terms]) -> Grant:
        """Grants an offer of the host to a session."""
        return _grant(await E(self.root).grant(session, petname, offered, on_the_wire(terms)))

    async def delegate(self, from_: str, petname: str, to: str, *, as_: str | None = None, **terms: Unpack[Terms]) -> Grant:
        """Delegates a cap of a session to its child."""
        options = on_the_wire(terms)
        if as_ is not None:
            options["as"] = as_
        return _grant(await E(self.root).delegate(from_, petname, to, options))

    async def grants(self, session: str | None = None, *, live: bool = False) -> list[Grant]:
        """Returns the grants that it made, all or those of one session. `live`: only those that allow calls."""
        filter_: dict[str, Any] = {} if session is None else {"session": session}
        if live:
            filter_["live"] = True
        found: list[Grant] = []
        while page := await E(self.root).list(filter_):
            found += map(_grant, page)
            filter_["after"] = found[-1].id
        return found

    async def revoke(self, grant: str | None = None, *, session: str | None = None, all: bool = False, why: str = "") -> None:
        """Revokes grants. Returns when this is durable and every driver has stopped."""
        if (grant is not None) + (session is not None) + all != 1:
            raise Invalid("say what to revoke: a grant, session='…', or all=True")
        what: Any = "all" if all else {"session": session} if grant is None else {"grant": grant}
        await E(self.root).revoke(what, why)

    async def narrow(self, grant: str, **terms: Unpack[Terms]) -> Grant:
        """Takes uses, time or methods away from a grant."""
        return _grant(await E(self.root).narrow(grant, on_the_wire(terms)))

    async def renew(self, grant: str, until: float) -> Grant:
        """Moves the end of a grant to `until`, in seconds since 1970."""
        return _grant(await E(self.root).renew(grant, round(until * 1000)))

    async def confirm(self, grant: str) -> Grant:
        """Confirms a grant that is suspended because the store was put back."""
        return _grant(await E(self.root).confirm(grant))

    async def end(self, session: str, why: str = "") -> None:
        """Ends a session and its grants."""
        await E(self.root).end(session, why)

    async def inbox(self) -> list[dict[str, Any]]:
        """Returns the open requests of its sessions, as the host shows them."""
        found: list[dict[str, Any]] = []
        while page := await E(self.root).inbox(*([found[-1]["id"]] if found else [])):
            found += page
        return found

    async def approve(self, request: dict[str, Any], *, as_: str | None = None, **terms: Unpack[Terms]) -> None:
        """Approves a request as it was shown: the digest binds it. Without terms, it grants the requested
        ones. With terms, it grants these, which must be narrower; wider ones raise `Invalid`. A term that is
        left out stays as requested."""
        said = on_the_wire(terms)
        grant = said if request.get("kind") == "call" else completed(request.get("terms", {}), said)
        act: dict[str, Any] = {"grant": grant, "digest": request["digest"]}
        if as_ is not None:
            act["as"] = as_
        await E(self.root).answer(request["id"], act)

    async def refuse(self, request: dict[str, Any], why: str, *, lasting: bool = False) -> None:
        """Refuses a request. The agent gets the reason. `lasting`: also when it asks again."""
        act = {"refuse": why, "lasting": lasting, "digest": request["digest"]}
        await E(self.root).answer(request["id"], act)

    async def verify(self) -> Any:
        """Verifies the ledger of the host."""
        return await E(E(self.root).ledger()).verify()


async def connect_granter(
    url: str, secret: str, *, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None
) -> Granter:
    """Enters the host as a granter, as `connect` enters a session."""
    return Granter(url, secret, await open_websocket(url, secret, limits=limits, timeout=timeout, ca=ca), limits, ca)
