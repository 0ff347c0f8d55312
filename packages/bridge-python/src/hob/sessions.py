"""A session: the caps that an agent holds, by petname, and nothing else.

    session = await hob.connect(url, secret)
    await session.caps()                                      # ['workspace']
    text = await E(session["workspace"]).readText("a.txt")    # one round trip

When the connection is lost, everything that came by it breaks with `Disconnected`. The host keeps the
session, its caps and their remaining uses. `await session.enter_again()` enters it again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from types import TracebackType
from typing import Any, NoReturn, Self, Unpack

from .captp.connection import Connection
from .errors import Invalid, NoSuchObject
from .captp.limits import Limits
from .reference import E, Promise, Ref, with_named
from .terms import Terms, on_the_wire
from .websocket import open_websocket


@dataclass(frozen=True, slots=True)
class Child:
    """A child session. Anyone who has its secret can enter it."""

    id: str
    secret: str
    url: str
    ca: str | None = None

    def __repr__(self) -> str:
        return f"<hob.Child {self.id}>"

    async def enter(self) -> Session:
        """Enters the session of the child."""
        return await connect(self.url, self.secret, ca=self.ca)


class Entered:
    """A client that has entered a host with a secret, and can enter it again."""

    def __init__(
        self, url: str, secret: str, connection: Connection, limits: Limits | None, ca: str | None = None
    ) -> None:
        self.url = url
        self._secret = secret
        self._limits = limits
        self._ca = ca
        self.connection = connection

    @property
    def root(self) -> Ref:
        """The bootstrap of the host."""
        return self.connection.bootstrap

    async def enter_again(self) -> None:
        """Enters again after the connection was lost. A call that was under way may have happened: check
        before you repeat it."""
        self.connection.close("enters again")
        account = self.connection.account
        self.connection = await open_websocket(
            self.url, self._secret, limits=self._limits, account=account, ca=self._ca
        )

    async def ended(self) -> tuple[int, str]:
        """Waits for the end of the connection. Returns its code and reason. 4403: the session itself has
        ended."""
        return await self.connection.ended()

    def close(self) -> None:
        """Leaves the host. The session stays for its grace time."""
        self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


class Session(Entered):
    """The caps of one session, by petname."""

    def __init__(
        self, url: str, secret: str, connection: Connection, limits: Limits | None = None, ca: str | None = None
    ) -> None:
        super().__init__(url, secret, connection, limits, ca)
        self._held: dict[str, Promise] = {}

    def __repr__(self) -> str:
        return f"<hob.Session at {self.url}>"

    async def caps(self) -> list[str]:
        """Returns the petnames of the session."""
        return list(await E(self.root).caps())

    def __getitem__(self, petname: str) -> Promise:
        """Returns the cap with this petname. Messages to it are sent at once. If there is none, it breaks
        with `NoSuchObject`."""
        known = self._held.get(petname)
        if known is None:
            known = self._held[petname] = E(self.root).cap(petname)
        elif known._target.state == "broken":
            # It may have been granted since then.
            known = self._held[petname] = E(self.root).cap(petname)
        return known

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yields the petnames: `async for name in session`."""
        for petname in await self.caps():
            yield petname

    # The petnames are at the host, so only `await` can tell them. Without these two, `"a" in session` would ask
    # `session[0]`, `session[1]`, … and never end.
    def __iter__(self) -> NoReturn:
        raise TypeError("the petnames are at the host: `await session.caps()`, or `async for name in session`")

    def __contains__(self, petname: object) -> NoReturn:
        raise TypeError("the petnames are at the host: `petname in await session.caps()`")

    def petname_of(self, cap: object) -> str:
        """Returns the petname under which this session holds a cap."""
        for petname, held in self._held.items():
            if cap == held or (held._target.state == "fulfilled" and held._target.value is cap):
                return petname
        raise NoSuchObject("this cap was not taken from this session: take it as session['name']")

    def request(self, asks: str, why: str = "", **terms: Unpack[Terms]) -> Promise:
        """Asks a person for an offer of the host, or for more of a held cap. The promise becomes the cap, or
        breaks with `Denied`."""
        asked = E(self.root).request({"asks": asks, "terms": on_the_wire(terms), "why": why})
        assert isinstance(asked, Promise)
        return asked

    async def spawn_child(self, name: str, caps: Mapping[str, object] | Iterable[object] = ()) -> Child:
        """Makes a child session with these caps and no others: `{its name: cap or name}`, or a list of caps
        or names."""
        given = dict(caps) if isinstance(caps, Mapping) else dict(self._named(cap) for cap in _listed(caps))
        handed = {its: cap if isinstance(cap, str) else self.petname_of(cap) for its, cap in given.items()}
        made = await E(self.root).spawnChild({"name": name, "caps": handed})
        return Child(made["id"], made["secret"], self.url, self._ca)

    def _named(self, cap: object) -> tuple[str, object]:
        petname = cap if isinstance(cap, str) else self.petname_of(cap)
        return petname, petname

    async def call(self, cap: str, method: str, /, *args: Any, **named: Any) -> Any:
        """Calls a cap that this session holds. If the await is cancelled, the host cancels the call, and so does the
        program behind the cap. Arguments are data."""
        name = token_urlsafe(24)
        given = {"call": name, "cap": cap, "method": method, "args": with_named(args, named)}
        try:
            return await E(self.root).call(given)
        except asyncio.CancelledError:
            E.send_only(self.root).cancel(name)
            raise

    def resolve(self, url: str) -> Promise:
        """Returns the cap behind an object URL that was made in this session."""
        found = E(self.root).resolve(url)
        assert isinstance(found, Promise)
        return found

    async def rotate(self) -> str:
        """Changes the secret, which this object uses from now on. The old one ends when the new one is first
        used."""
        self._secret = str((await E(self.root).rotate())["secret"])
        return self._secret

    async def enter_again(self) -> None:
        """Enters again after the connection was lost. A call that was under way may have happened: check
        before you repeat it. The caps have to be taken again."""
        self._held.clear()
        await super().enter_again()


def _listed(caps: Iterable[object]) -> Iterable[object]:
    if isinstance(caps, str):
        raise Invalid("caps is a list of caps or names, or a record {its name: cap}")
    return caps


async def connect(
    url: str, secret: str, *, limits: Limits | None = None, timeout: float = 30.0, ca: str | None = None
) -> Session:
    """Enters the session of this secret. `ca` has the certificates (PEM) of a private authority, for `wss://`.
    Raises `Refused`, `Unavailable`, `Disconnected`, `Invalid`."""
    return Session(url, secret, await open_websocket(url, secret, limits=limits, timeout=timeout, ca=ca), limits, ca)

