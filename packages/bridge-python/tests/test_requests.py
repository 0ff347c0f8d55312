"""Requests: an agent asks, and a person's client sees the request and answers it, against a real host."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import hob
import pytest
from hob import E
from host_process import HostProcess, needs_node
from test_tools import entered

pytestmark = needs_node
ONCE: Any = ("directory", {"scope": "once"})


async def asked(granter: hob.Granter, session: str) -> dict[str, Any]:
    """Returns the request of this session as soon as it is there."""
    async with asyncio.timeout(100):
        while True:
            for request in await granter.inbox():
                if request["session"] == session:
                    return request
            await asyncio.sleep(0.01)


async def test_a_request_becomes_the_cap_when_a_person_says_yes(host: HostProcess) -> None:
    async with entered(host) as (_t, session, granter, id_):
        text = E(session.request("directory", "to read the notes", uses=2)).readText("notes.txt")
        request = await asked(granter, id_)
        assert request["asks"] == "directory" and "to read the notes" in request["why"]
        await granter.approve(request)
        # The call was sent before anybody had answered.
        assert await text == "notes\n"
        (petname,) = await session.caps()
        assert await session[petname].readText("notes.txt") == "notes\n"
        with pytest.raises(hob.Exhausted):
            await session[petname].readText("notes.txt")


async def test_an_approval_narrows_a_request_and_never_widens_it(host: HostProcess) -> None:
    async with entered(host) as (_t, session, granter, id_):
        wanted = session.request("directory", "to read", uses=50, seconds=80 * 86_400)
        request = await asked(granter, id_)
        for wider in ({"uses": 51}, {"seconds": 81 * 86_400}, {"scope": "permanent"}):
            with pytest.raises(hob.Invalid, match="was asked as"):
                await granter.approve(request, **wider)  # type: ignore[arg-type]
        await granter.approve(request, uses=1)
        await wanted
        (once,) = await granter.grants(id_)
        assert once.uses_left == 1 and 79 * 86_400 < once.until - time.time() <= 80 * 86_400
        wanted = session.request("directory", "to read", uses=50, seconds=80 * 86_400)
        await granter.approve(await asked(granter, id_), seconds=300, methods=["readText"])
        cap = await wanted
        (short,) = [grant for grant in await granter.grants(id_) if grant.id != once.id]
        assert short.uses_left == 50 and short.until - time.time() <= 300
        with pytest.raises(hob.NoSuchMethod):
            await E(cap).list("")


async def test_a_refusal_says_what_to_ask_for_instead(host: HostProcess) -> None:
    async with entered(host) as (_t, session, granter, id_):
        wanted = session.request("directory", "all of it", scope="session")
        request = await asked(granter, id_)
        with pytest.raises(hob.Denied):
            await granter.approve({**request, "digest": "0" * 64}, uses=1)
        await granter.refuse(request, "not today")
        with pytest.raises(hob.Denied, match="not today"):
            await wanted
        with pytest.raises(hob.NoSuchObject):
            await granter.refuse(request, "again")
        assert await session.caps() == []


async def test_a_model_asks_with_its_tool_and_goes_on(host: HostProcess) -> None:
    async with entered(host, once=ONCE) as (made, _s, granter, id_):
        assert not (await made.call("read", {"cap": "once", "path": "notes.txt"})).is_error
        refusal = await made.call("read", {"cap": "once", "path": "notes.txt"})
        assert refusal.code == "exhausted" and "request" in refusal.text
        asking = asyncio.ensure_future(made.call("request", {"cap": "once", "why": "one more", "uses": 1}))
        await granter.approve(await asked(granter, id_), as_="more")
        result = await asking
        assert not result.is_error and "more" in result.text
        assert (await made.call("read", {"cap": "more", "path": "notes.txt"})).text == "notes\n"
        nothing = await made.call("request", {"cap": "deploy-key", "why": "?"})
        assert nothing.code == "no-such-object"


def test_the_synchronous_face_waits_for_the_answer(host: HostProcess) -> None:
    id_, secret = host.session()
    with hob.sync.connect_granter(host.url, host.granter_secret) as granter, hob.sync.connect(host.url, secret) as session:
        import threading

        def person() -> None:
            for _ in range(500):
                for request in granter.inbox():
                    if request["session"] == id_:
                        return granter.approve(request, uses=1)

        thread = threading.Thread(target=person)
        thread.start()
        cap = session.request("directory", "to read")
        thread.join()
        assert cap.readText("notes.txt") == "notes\n"
        with pytest.raises(hob.Exhausted):
            cap.readText("notes.txt")


async def test_a_gated_call_waits_for_a_person(host: HostProcess) -> None:
    async with entered(host, op=("dangerous-op", {"uses": 5, "gated": ["invoke"]})) as (_t, session, granter, id_):
        call = session["op"].invoke("deploy")
        request = await asked(granter, id_)
        assert request["kind"] == "call" and host.do("ran") == []
        await granter.approve(request)
        assert await call == "ok" and host.do("ran") == ["deploy"]
