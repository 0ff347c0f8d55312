"""A session: the caps that an agent holds, by petname, and nothing else.

    session = await hob.connect(url, secret)
    await session.caps()                                      # ['workspace']
    text = await E(session["workspace"]).readText("a.txt")    # one round trip

When the connection is lost everything that came by it breaks with `Disconnected`; the session itself, what it holds and what is left of
that is kept by the host. `await session.enter_again()` enters it anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self, Unpack

from .captp.connection import Connection
from .errors import Invalid, NoSuchObject
from .captp.limits import Limits
from .reference import E, Promise, Ref
from .terms import Terms, on_the_wire
from .websocket import open_websocket


@dataclass(frozen=True, slots=True)
class Child:
    """A session of its own under another one: whoever has its secret enters it."""

    id: str
    secret: str
    url: str

    def __repr__(self) -> str:
        return f"<hob.Child {self.id}>"

    async def enter(self) -> Session:
        return await connect(self.url, self.secret)


class Entered:
    """One who has entered a host by a secret, and can again."""

    def __init__(self, url: str, secret: str, connection: Connection, limits: Limits | None) -> None:
        self.url = url
        self._secret = secret
        self._limits = limits
        self.connection = connection

    @property
    def root(self) -> Ref:
        """What the host offers."""
        return self.connection.bootstrap

    async def enter_again(self) -> None:
        """After the connection was lost. What was under way has happened or not: look before you repeat it."""
        self.connection.close("enters again")
        self.connection = await open_websocket(self.url, self._secret, limits=self._limits)

    async def ended(self) -> tuple[int, str]:
        """Waits for the end of the connection: its code and reason. 4403: the session itself is over."""
        return await self.connection.ended()

    def close(self) -> None:
        """Leaves. The session stays for its grace time."""
        self.connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.close()


class Session(Entered):
    def __init__(self, url: str, secret: str, connection: Connection, limits: Limits | None = None) -> None:
        super().__init__(url, secret, connection, limits)
        self._held: dict[str, Promise] = {}

    def __repr__(self) -> str:
        return f"<hob.Session at {self.url}>"

    async def caps(self) -> list[str]:
        """The petnames that it holds."""
        return list(await E(self.root).caps())

    def __getitem__(self, petname: str) -> Promise:
        """The cap of that name: messages to it go at once. What it does not hold breaks with `NoSuchObject`."""
        known = self._held.get(petname)
        if known is None:
            known = self._held[petname] = E(self.root).cap(petname)
        elif known._target.state == "broken":
            # It may have been granted since.
            known = self._held[petname] = E(self.root).cap(petname)
        return known

    def petname_of(self, cap: object) -> str:
        """Under which name this session holds it."""
        for petname, held in self._held.items():
            if cap == held or (held._target.state == "fulfilled" and held._target.value is cap):
                return petname
        raise NoSuchObject("this session holds no such cap: take it as session['name']")

    def request(self, asks: str, why: str = "", **terms: Unpack[Terms]) -> Promise:
        """Asks a person for more: of what the host offers, or more of what it holds. The cap, once somebody says yes; `Denied` otherwise."""
        asked = E(self.root).request({"asks": asks, "terms": on_the_wire(terms), "why": why})
        assert isinstance(asked, Promise)
        return asked

    async def spawn_child(self, name: str, caps: Mapping[str, object] | Iterable[object] = ()) -> Child:
        """A session under this one, which starts with these caps and no others: `{its name: cap or name}`, or a list of them."""
        given = dict(caps) if isinstance(caps, Mapping) else dict(self._named(cap) for cap in _listed(caps))
        handed = {its: cap if isinstance(cap, str) else self.petname_of(cap) for its, cap in given.items()}
        made = await E(self.root).spawnChild({"name": name, "caps": handed})
        return Child(made["id"], made["secret"], self.url)

    def _named(self, cap: object) -> tuple[str, object]:
        petname = cap if isinstance(cap, str) else self.petname_of(cap)
        return petname, petname

    def resolve(self, url: str) -> Promise:
        """The cap behind an object URL that was made in this session."""
        found = E(self.root).resolve(url)
        assert isinstance(found, Promise)
        return found

    async def rotate(self) -> str:
        """A new secret, which this object enters with from now on. The old one dies when the new one is first used."""
        self._secret = str((await E(self.root).rotate())["secret"])
        return self._secret

    async def enter_again(self) -> None:
        self._held.clear()
        await super().enter_again()


def _listed(caps: Iterable[object]) -> Iterable[object]:
    if isinstance(caps, str):
        raise Invalid("caps is a list of caps or names, or a record {its name: cap}")
    return caps


async def connect(url: str, secret: str, *, limits: Limits | None = None, timeout: float = 30.0) -> Session:
    """Enters the session of this secret. Raises `Refused`, `Unavailable`, `Disconnected`."""
    return Session(url, secret, await open_websocket(url, secret, limits=limits, timeout=timeout), limits)

