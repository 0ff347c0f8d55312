"""A Python program that runs a host and brings its own tools. Real processes; the attacker is an agent, a kill -9, or
a second program."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import hob
import pytest
from hob import E
from host_process import needs_node

pytestmark = needs_node


@dataclass
class Address:
    name: str
    street: str = "unknown"


class Attachment(TypedDict):
    name: str
    data: bytes


class MailTools:
    """The mail of the team."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.began = asyncio.Event()
        self.cancelled = 0

    async def send(
        self, to: str, body: str, *, urgent: bool = False, cc: Address | None = None, files: list[Attachment] | None = None
    ) -> int:
        """Sends a mail."""
        self.sent.append({"to": to, "body": body, "urgent": urgent, "cc": cc, "files": files})
        return len(self.sent)

    def inbox(self, box: Literal["new", "all"] = "new") -> list[Address]:
        """Lists who has written."""
        return [Address(box)]

    async def wait(self) -> None:
        """Never ends by itself."""
        self.began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    def _secret(self) -> str:
        return "never offered"


async def until(sees: Callable[[], bool]) -> None:
    while not sees():
        await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    # The path of a socket is short.
    import shutil
    import tempfile

    made = Path(tempfile.mkdtemp(prefix="hob-th-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


def host_on(folder: Path) -> hob.Host:
    return hob.Host(state=folder / "state", sentinel=folder / "sentinel")


async def fails(result: Awaitable[Any]) -> str:
    try:
        await result
    except hob.CapError as error:
        return error.code
    return "ok"


async def test_a_python_program_offers_grants_and_revokes_and_its_state_survives(folder: Path) -> None:
    mail = MailTools()
    async with host_on(folder) as host:
        assert host.pid is not None
        await host.granter.offer("mail", mail, reads=["inbox"], effects={"send": "C"}, label="the team's mail")
        session = await host.granter.open_session("agent")
        assert not session.again and session.secret not in repr(session)
        grant = await host.granter.grant(session.id, "mail", "mail", uses=3)
        async with await session.enter() as agent:
            cap = agent["mail"]
            assert await E(cap).send(to="ann", body="hello", cc={"name": "bob"}, files=[{"name": "a", "data": b"x"}]) == 1
            assert await cap.inbox() == [{"name": "new", "street": "unknown"}]
            assert mail.sent == [
                {"to": "ann", "body": "hello", "urgent": False, "cc": Address("bob"), "files": [{"name": "a", "data": b"x"}]}
            ]
        pid = host.pid
    assert not alive(pid)
    async with host_on(folder) as host:
        session = await host.granter.open_session("agent")
        assert session.again
        async with await session.enter() as agent:
            for _ in range(3):
                assert await fails(agent["mail"].inbox()) == "unavailable"
            await host.granter.offer("mail", mail)
            (left,) = await host.granter.grants(session.id)
            # A call that found nobody costs no use.
            assert (left.id, left.uses_left) == (grant.id, 1)
            await host.granter.grant(session.id, "again", "mail")
            assert await agent["again"].inbox(box="all") == [{"name": "all", "street": "unknown"}]
            await host.granter.revoke(session=session.id)
            assert await fails(agent["again"].inbox()) == "revoked"


async def test_arguments_that_do_not_fit_are_refused_before_the_method_runs(folder: Path) -> None:
    mail = MailTools()
    async with host_on(folder) as host:
        await host.granter.offer("mail", mail)
        session = await host.granter.open_session("agent")
        await host.granter.grant(session.id, "mail", "mail")
        async with await session.enter() as agent:
            cap = agent["mail"]
            wrong: list[dict[str, Any]] = [
                {"to": 5, "body": "x"}, {"to": "ann"}, {"to": "ann", "body": "x", "urgent": 1}, {"to": "ann", "body": "x", "more": 1},
                {"to": "ann", "body": "x", "cc": {"street": "s"}}, {"to": "ann", "body": "x", "files": [{"name": "a"}]},
                {"to": "ann", "body": "x", "cc": {"name": "b", "evil": 1}}, {"to": True, "body": "x"}, {"to": None, "body": "x"},
            ]  # fmt: skip
            for each in wrong:
                assert await fails(cap.send(**each)) == "invalid", each
            assert await fails(cap.send("ann", "x")) == "invalid"
            assert await fails(cap.inbox(box="old")) == "invalid"
            assert await fails(E(cap)["_secret"]()) == "no-such-method"
            with pytest.raises(hob.Invalid, match=r'"send" takes a text for .to.'):
                await cap.send(to=5, body="my secret")
            assert mail.sent == []


async def test_revoking_cancels_the_coroutine_and_so_does_cancelling_the_await(folder: Path) -> None:
    mail = MailTools()
    async with host_on(folder) as host:
        await host.granter.offer("mail", mail)
        session = await host.granter.open_session("agent")
        grant = await host.granter.grant(session.id, "mail", "mail")
        await host.granter.grant(session.id, "other", "mail")
        async with await session.enter() as agent:
            waiting = asyncio.ensure_future(agent["mail"].wait())
            await mail.began.wait()
            await host.granter.revoke(grant.id)
            # The revoker waits until the coroutine has ended.
            assert mail.cancelled == 1
            assert await fails(waiting) == "revoked"
            mail.began.clear()
            task = asyncio.create_task(agent.call("other", "wait"))
            await mail.began.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await until(lambda: mail.cancelled == 2)
            assert await agent.call("other", "send", to="ann", body="x") == 1


async def test_an_offer_that_is_withdrawn_or_replaced_keeps_its_grants(folder: Path) -> None:
    first, second = MailTools(), MailTools()
    async with host_on(folder) as host:
        offered = await host.granter.offer("mail", first)
        session = await host.granter.open_session("agent")
        await host.granter.grant(session.id, "mail", "mail")
        async with await session.enter() as agent:
            offered.withdraw()
            while await fails(agent["mail"].inbox()) != "unavailable":
                await asyncio.sleep(0.01)
            await host.granter.offer("mail", second, methods=["send"])
            assert await agent["mail"].send(to="ann", body="x") == 1
            assert (len(first.sent), len(second.sent)) == (0, 1)
            assert await fails(agent["mail"].inbox()) == "no-such-method"


async def test_the_inbox_is_a_stream_of_raw_arguments_and_is_answered(folder: Path) -> None:
    mail = MailTools()
    async with host_on(folder) as host:
        await host.granter.offer("mail", mail)
        session = await host.granter.open_session("agent")
        gated = await host.granter.grant(session.id, "mail", "mail", gated=["send"])
        assert (gated.waits, gated.asks, gated.drafts) == ("some", False, False)
        odd = "“quoted”\u202e\n"

        async def answers() -> list[Any]:
            seen = []
            async for question in host.granter.questions():
                seen.append((question.kind, question.cap, question.method, question.arguments))
                if question.kind == "grant":
                    await question.refuse("not today")
                    return seen
                assert question.arguments is not None
                if question.arguments["to"] == "ann":
                    await question.grant()
                else:
                    await host.granter.answer(question, refuse="only ann")
            return seen

        answering = asyncio.create_task(answers())
        async with await session.enter() as agent:
            assert await agent["mail"].send(to="ann", body=odd) == 1
            assert await fails(agent["mail"].send(to="eve", body=odd)) == "denied"
            with pytest.raises(hob.Denied, match="not today"):
                await agent.request("mail", "please")
        assert await answering == [
            ("call", "mail", "send", {"to": "ann", "body": odd}),
            ("call", "mail", "send", {"to": "eve", "body": odd}),
            ("grant", "mail", None, None),
        ]
        assert [each["to"] for each in mail.sent] == ["ann"]


async def test_kill_9_of_the_host_leaves_the_state_and_again_offers_again(folder: Path) -> None:
    mail = MailTools()
    async with host_on(folder) as host:
        await host.granter.offer("mail", mail)
        session = await host.granter.open_session("agent")
        await host.granter.grant(session.id, "mail", "mail", uses=2)
        async with await session.enter() as agent:
            assert await agent["mail"].inbox() == [{"name": "new", "street": "unknown"}]
        assert host.pid is not None
        os.kill(host.pid, signal.SIGKILL)
        await host.ended()
        await host.again()
        session = await host.granter.open_session("agent")
        assert session.again
        async with await session.enter() as agent:
            assert await agent["mail"].inbox() == [{"name": "new", "street": "unknown"}]
            assert await fails(agent["mail"].inbox()) == "exhausted"


async def test_kill_9_of_the_program_ends_its_host_and_another_program_reaches_what_runs(folder: Path) -> None:
    program = (
        "import asyncio, hob, sys\n"
        "async def main():\n"
        "    async with hob.Host(state=sys.argv[1], sentinel=sys.argv[2]) as host:\n"
        "        print(host.pid, flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(folder / "state"), str(folder / "sentinel"), stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    pid = int(await child.stdout.readline())
    async with host_on(folder) as second:
        # It reached the host of the other program, which is not its own to end.
        assert second.pid is None
        assert not (await second.granter.open_session("agent")).again
        child.kill()
        await child.wait()
        await second.ended()
        await until(lambda: not alive(pid))
        await second.again()
        assert second.pid is not None
        assert (await second.granter.open_session("agent")).again


async def test_what_is_missing_is_one_message_with_one_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hob.hosting import start

    monkeypatch.setattr(start, "_checkout", lambda _: None)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(hob.Unavailable, match=r"Node 24 or newer.*npm install -g @hob/cli"):
        await host_on(folder).start()
    (folder / "npm").touch(mode=0o755)
    with pytest.raises(hob.Unavailable, match=r"the command hob.*PATH: run `npm install -g @hob/cli`, or .* checkout .*`pip install -e`"):
        await host_on(folder).start()
    old = hob.Host(state=folder / "state", command=[sys.executable, "-c", "raise SystemExit('unknown verb host')"])
    with pytest.raises(hob.Unavailable, match="unknown verb host"):
        await old.start()


async def test_the_example_of_the_readme_runs(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    example = readme.partition("## Tool hosts")[2].partition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    names: dict[str, Any] = {"hob": hob, "E": E}
    exec(example, names)
    await names["main"]()
    assert capsys.readouterr().out == "1\n"
