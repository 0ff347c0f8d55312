"""Sessions and granters against a real host in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from typing import Any

import hob
import pytest
from hob import E
from host_process import HostProcess, needs_node
from wire import quiet

pytestmark = needs_node


@contextlib.asynccontextmanager
async def entered(host: HostProcess, **grants: dict[str, Any]) -> AsyncIterator[tuple[hob.Session, hob.Granter, str]]:
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        for petname, terms in grants.items():
            offered = terms.pop("of", "directory")
            await granter.grant(id_, petname, offered, **terms)
        async with await hob.connect(host.url, secret) as session:
            yield session, granter, id_
    await asyncio.sleep(0)


async def test_a_session_enters_by_a_unix_socket_and_a_wrong_address_of_one_is_told(host: HostProcess) -> None:
    url = host.do("socket")
    assert url == f"ws+unix:{host.folder}/socket:/"
    _id, secret = host.session()
    for address in (url, url.removesuffix(":/")):
        async with await hob.connect(address, secret) as session:
            assert await session.caps() == []
        await asyncio.sleep(0)
    with pytest.raises(hob.Refused) as refused:
        await hob.connect(url, "wrong")
    assert refused.value.status == 401
    with pytest.raises(hob.Unavailable):
        await hob.connect(f"ws+unix:{host.folder}/nobody:/", secret)
    for wrong in ("ws+unix:socket:/", "ws+unix://host/socket", "ws+unix:/a:b:/", "ws+unix:", "ws+unix:/a\0b:/"):
        with pytest.raises(hob.Invalid):
            await hob.connect(wrong, secret)


async def test_a_session_enters_by_tls_with_a_private_authority_and_never_without_it(host: HostProcess) -> None:
    tls = host.do("tls")
    _id, secret = host.session()
    async with await hob.connect(tls["url"], secret, ca=tls["ca"]) as session:
        assert await session.caps() == []
        await session.enter_again()
        assert await session.caps() == []
    await asyncio.sleep(0)
    async with await hob.connect_granter(tls["url"], host.granter_secret, ca=tls["ca"]) as granter:
        assert await granter.sessions()
    await asyncio.sleep(0)
    # A host that nobody vouches for never gets the secret.
    for ca in (None, tls["other"]):
        with pytest.raises(hob.Unavailable) as unknown:
            await hob.connect(tls["url"], secret, ca=ca)
        assert "certificate" in str(unknown.value)
    for wrong in ("", "no certificate", str(host.folder)):
        with pytest.raises(hob.Invalid) as refused:
            await hob.connect(tls["url"], secret, ca=wrong)
        assert "PEM" in str(refused.value)


async def test_a_session_can_use_its_caps_and_nothing_else(host: HostProcess) -> None:
    async with entered(host, workspace={"uses": 50}) as (session, _, _id):
        assert await session.caps() == ["workspace"]
        assert await E(session["workspace"]).subdir("src").readText("a.txt") == "text of a\n"
        assert await session["workspace"].readText("notes.txt") == "notes\n"
        with pytest.raises(hob.NoSuchObject):
            await session["home"].readText("notes.txt")
        with pytest.raises(hob.CapError) as escaped:
            await session["workspace"].readText("../state/x")
        assert str(host.folder) not in str(escaped.value)
        await session["workspace"].write("new.txt", "written")
        assert (host.root / "new.txt").read_text() == "written"


async def test_bytes_and_streams_of_a_real_directory(host: HostProcess) -> None:
    async with entered(host, workspace={"uses": 200}) as (session, _, _id):
        whole = (host.root / "big.bin").read_bytes()
        source = await E(session["workspace"]).openRead("big.bin")
        got = b"".join([chunk async for chunk in hob.source(source, max=100_000)])
        assert got == whole
        assert await session["workspace"].read("notes.txt") == b"notes\n"


async def test_a_wrong_secret_a_wrong_address_and_no_host(host: HostProcess) -> None:
    with pytest.raises(hob.Refused) as refused:
        await hob.connect(host.url, "wrong")
    assert refused.value.status == 401 and refused.value.code == "denied"
    assert "wrong" not in str(refused.value)
    for secret in ("", "a b", "a\r\nX-Other: 1", "ü"):
        with pytest.raises(hob.Invalid):
            await hob.connect(host.url, secret)
    with pytest.raises(hob.Invalid):
        await hob.connect("file:///etc/passwd", "x")
    with pytest.raises(hob.Unavailable):
        await hob.connect("ws://127.0.0.1:1", "x")


async def test_a_grant_ends_with_its_class(host: HostProcess) -> None:
    async with entered(host, once={"scope": "once"}, timed={"seconds": 60}) as (session, granter, id_):
        assert await session["once"].readText("notes.txt")
        with pytest.raises(hob.Exhausted):
            await session["once"].readText("notes.txt")
        grants = {grant.petname: grant for grant in await granter.grants(id_)}
        assert grants["once"].state == "exhausted" and grants["once"].uses_left == 0
        narrowed = await granter.narrow(grants["timed"].id, methods=["readText"])
        assert narrowed.state == "live"
        with pytest.raises(hob.CapError):
            await session["timed"].list(".")
        await granter.revoke(grants["timed"].id, why="enough")
        with pytest.raises(hob.Revoked):
            await session["timed"].readText("notes.txt")
        assert [grant.petname for grant in await granter.grants(id_, live=True)] == []
        with pytest.raises(hob.Invalid):
            await granter.grant(id_, "more", "directory", hours=1)  # type: ignore[call-arg]
        assert (await granter.verify())["ok"] is True


async def test_a_child_starts_with_the_delegated_caps_only(host: HostProcess) -> None:
    async with entered(host, workspace={"uses": 50}) as (session, _, _id):
        await session["workspace"].stat("notes.txt")
        child = await session.spawn_child("helper", {"notes": session["workspace"]})
        empty = await session.spawn_child("empty")
        assert child.secret not in repr(child)
        async with await child.enter() as inside, await empty.enter() as nothing:
            assert await inside.caps() == ["notes"] and await nothing.caps() == []
            assert await inside["notes"].readText("notes.txt") == "notes\n"
            with pytest.raises(hob.NoSuchObject):
                await nothing["notes"].readText("notes.txt")
        with pytest.raises(hob.NoSuchObject):
            await session.spawn_child("other", [session.root])


async def test_a_lost_connection_is_entered_again(host: HostProcess) -> None:
    async with entered(host, workspace={"uses": 3}, lazy={"of": "lazy", "seconds": 60}) as (session, granter, id_):
        held = session["workspace"]
        assert await held.readText("notes.txt")
        never = E(session["lazy"]).wait()
        await quiet()
        socket: Any = session.connection._outbound.link
        socket._transport.abort()
        with pytest.raises(hob.Disconnected):
            await never
        with pytest.raises(hob.Disconnected):
            await held.readText("notes.txt")
        await session.enter_again()
        # A spent use stays spent.
        assert await session["workspace"].readText("notes.txt")
        host.do("letGo")
        await granter.end(id_)
        code, _reason = await session.ended()
        assert code == 4403
        with pytest.raises(hob.Refused):
            await session.enter_again()


async def test_a_newer_connection_fences_the_older_one(host: HostProcess) -> None:
    id_, secret = host.session()
    async with await hob.connect(host.url, secret) as first:
        async with await hob.connect(host.url, secret) as second:
            assert (await first.ended())[0] == 4401
            assert await second.caps() == []
            newer = await second.rotate()
            assert newer != secret
            await second.enter_again()
            assert await second.caps() == []
        with pytest.raises(hob.Refused):
            await hob.connect(host.url, secret)


async def test_an_object_url_is_resolved_by_its_session_only(host: HostProcess) -> None:
    async with entered(host, workspace={"uses": 50}) as (session, _, id_), entered(host) as (other, _g, _i):
        url = host.do("publish", id_, "workspace")
        assert await E(session.resolve(url)).readText("notes.txt") == "notes\n"
        with pytest.raises(hob.NoSuchObject):
            await other.resolve(url)


async def test_one_granter_sees_its_own(host: HostProcess) -> None:
    async with entered(host) as (_session, granter, id_):
        assert id_ in [each["id"] for each in await granter.sessions()]
        with pytest.raises(hob.NoSuchObject):
            await granter.grant("nobody-1", "x", "directory")
        with pytest.raises(hob.NoSuchObject):
            await granter.grant(id_, "x", "nothing")


# ---- without asyncio ---------------------------------------------------------------------------------------


def test_the_synchronous_face_from_many_threads(host: HostProcess) -> None:
    id_, secret = host.session()
    with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
        granter.grant(id_, "workspace", "directory", uses=500)
        with hob.sync.connect(host.url, secret) as session:
            seen: list[str] = []
            threads = [
                threading.Thread(target=lambda: seen.extend(session["workspace"].readText("notes.txt") for _ in range(5)))
                for _ in range(8)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert seen == ["notes\n"] * 40
            assert session["workspace"].subdir("src").readText("a.txt") == "text of a\n"
            with pytest.raises(hob.NoSuchObject):
                session["other"].readText("a")
            with pytest.raises(hob.NoSuchMethod):
                session["workspace"].nothing()
            stream = session["workspace"].openRead("big.bin")
            assert b"".join(hob.sync.read(stream)) == (host.root / "big.bin").read_bytes()
            child = session.spawn_child("helper", [session["workspace"]])
            assert child.caps() == ["workspace"]
            child.close()


async def test_the_synchronous_face_inside_a_running_loop(host: HostProcess) -> None:
    id_, secret = host.session()
    with hob.sync.connect(host.url, secret) as session:
        assert session.caps() == []
    assert threading.current_thread() is threading.main_thread()


def test_an_object_that_is_offered_may_itself_call_and_wait(host: HostProcess) -> None:
    from hob.sync import Cap, _loop

    class Ear(hob.Far):
        def __init__(self) -> None:
            self.heard: list[Any] = []
            self.cap: Any = None

        def hear(self, value: Any) -> int:
            assert threading.current_thread().name.startswith("hob-far")
            self.heard.append(self.cap.echo(value) if self.cap is not None else value)
            return len(self.heard)

    class Echo(hob.Far):
        def echo(self, x: Any) -> Any:
            return x

        def tell(self, ear: Any, n: int) -> Any:
            return [E(ear).hear(i) for i in range(n)][-1]

    async def open_() -> Any:
        from wire import pair

        return pair(b=Echo())

    client, _ = _loop.run(open_())
    cap = Cap(client.bootstrap)
    ear = Ear()
    ear.cap = cap
    assert cap.echo(ear) is ear
    assert cap.tell(ear, 20) == 20 and ear.heard == list(range(20))

    async def close() -> None:
        client.close()
        # In the thread of the connections, a call that waits would wait for itself.
        with pytest.raises(RuntimeError, match="await"):
            cap.echo(1)

    _loop.run(close())
    with pytest.raises(hob.Disconnected):
        cap.echo(1)


def test_a_killed_host_breaks_what_waits() -> None:
    own = HostProcess()
    try:
        id_, secret = own.session()
        with hob.sync.connect_granter(own.url, own.granter_secret) as granter:
            granter.grant(id_, "lazy", "lazy", seconds=60)
            session = hob.sync.connect(own.url, secret)
            lazy = session["lazy"]
            killer = threading.Timer(0.2, own.kill)
            killer.start()
            with pytest.raises(hob.Disconnected):
                lazy.wait()
            killer.join()
            with pytest.raises(hob.Unavailable):
                session.enter_again()
            session.close()
    finally:
        own.close()
