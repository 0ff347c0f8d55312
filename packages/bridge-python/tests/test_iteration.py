"""Everything that Python does with an object that has `__getitem__` ends: it gives the names, or raises."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable
from typing import Any

import hob
import pytest
from hob.sessions import Session
from hob.sync import Cap, _loop
from wire import pair

USES: dict[str, Callable[[Any], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "dict": dict,
    "in": lambda x: "workspace" in x,
    "not in": lambda x: None not in x,
    "for": lambda x: [each for each in x],
    "star": lambda x: print(*x),
    "double star": lambda x: dict(**x),
    "unpacked": lambda x: (lambda a, b: a)(*x),
    "two names": lambda x: [a for a, b in [x]],
    "next": lambda x: next(iter(x)),
    "reversed": lambda x: list(reversed(x)),
    "sorted": sorted,
    "max": max,
    "any": any,
    "zip": lambda x: list(zip(x, x)),
    "len": len,
    "extend": lambda x: [].extend(x),
    "join": lambda x: "".join(x),
    "choice": random.choice,
}

# A loop that does not end would take all memory before any time limit: so the root refuses the second question.
LIMIT = 3


class Root(hob.Far):
    def __init__(self) -> None:
        self.asked = 0

    def caps(self) -> list[str]:
        return ["workspace", "notes"]

    def cap(self, petname: str) -> Root:
        assert isinstance(petname, str)
        return self


class Counted(Session):
    """A session that ends a loop over numbers."""

    questions = 0

    def __getitem__(self, petname: str) -> hob.Promise:
        self.questions += 1
        if not isinstance(petname, str) or self.questions > LIMIT:
            raise AssertionError("asked for one cap after the other")
        return super().__getitem__(petname)


def counted(of: Any) -> Any:
    """The same kind of object, whose loop ends."""

    class Bounded(type(of)):  # type: ignore[misc]
        __slots__ = ()

        def __getitem__(self, name: Any) -> Any:
            if not isinstance(name, str):
                raise AssertionError("asked for one method after the other")
            return super().__getitem__(name)

    made = Bounded.__new__(Bounded)
    for each in type(of).__mro__:
        for slot in getattr(each, "__slots__", ()):
            if slot != "__weakref__" and hasattr(of, slot):
                object.__setattr__(made, slot, object.__getattribute__(of, slot))
    return made


@pytest.mark.parametrize("use", USES.values(), ids=USES)
async def test_an_asyncio_session_or_proxy_raises_and_never_loops(use: Callable[[Any], Any]) -> None:
    client, _ = pair(b=Root())
    session = Counted("ws://x", "secret", client)
    for of in (session, counted(hob.E(client.bootstrap)), client.bootstrap, hob.E(client.bootstrap).caps()):
        with pytest.raises(TypeError):
            use(of)
    assert not isinstance(hob.E(client.bootstrap), Iterable)
    client.close()
    await asyncio.sleep(0)


async def test_an_asyncio_session_yields_its_petnames() -> None:
    client, _ = pair(b=Root())
    session = Session("ws://x", "secret", client)
    assert [name async for name in session] == ["workspace", "notes"]
    with pytest.raises(TypeError, match="await session.caps"):
        "workspace" in session  # noqa: B015
    client.close()
    await asyncio.sleep(0)


@pytest.fixture
def made() -> Any:
    async def open_() -> Any:
        client, host = pair(b=Root())
        return Session("ws://x", "secret", client), host

    session, host = _loop.run(open_())
    yield session

    async def close() -> None:
        session.close()
        await asyncio.sleep(0)

    _loop.run(close())


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_cap_or_proxy_that_waits_raises_and_never_loops(made: Any, use: Callable[[Any], Any]) -> None:
    cap = Cap(made.root)
    for of in (cap, hob.sync.E(cap), hob.sync.E(cap).caps()):
        # `dict` asks the peer for its method `keys`.
        with pytest.raises((TypeError, hob.NoSuchMethod)):
            use(counted(of))
    assert not isinstance(cap, Iterable)


def test_a_session_that_waits_is_a_mapping_of_its_caps(made: Any) -> None:
    session = hob.sync.Session(made)
    assert "workspace" in session and "other" not in session and 5 not in session
    assert list(session) == ["workspace", "notes"] and len(session) == 2
    caps = dict(session)
    assert list(caps) == ["workspace", "notes"] and all(isinstance(cap, Cap) for cap in caps.values())
    assert caps["notes"].caps() == ["workspace", "notes"]
    assert list({**session}) == [*session]
    assert bool(hob.sync.Session(made))
