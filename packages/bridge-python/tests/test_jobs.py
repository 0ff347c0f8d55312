"""Jobs of a real shell: reads, drops and waits come in any order, and every wait ends."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import hob
from hob import E
from host_process import HostProcess, needs_node

pytestmark = needs_node

EACH = 400_000
LONG = (
    f"for i in 1 2; do head -c {EACH // 2} /dev/zero | tr '\\0' o;"
    f" head -c {EACH // 2} /dev/zero | tr '\\0' e >&2; done; exit 3"
)
ACTS = {
    "read of stdout": lambda job: E(E(job).stdout()).next(10),
    "read of stderr": lambda job: E(E(job).stderr()).next(10),
    "stdout given up": lambda job: E(E(job).stdout())["return"](),
    "stderr given up": lambda job: E(E(job).stderr())["return"](),
    "wait": lambda job: E(job).wait(),
}


async def whole(job: Any) -> None:
    ended = await E(job).wait()
    assert (ended["status"], ended["ended"], ended["truncated"]) == (3, "exit", False)
    assert (ended["stdout"], ended["stderr"]) == ("o" * EACH, "e" * EACH)


async def everything(source: Any) -> int:
    return sum([len(chunk) async for chunk in hob.source(source)])


async def test_next_return_and_wait_end_in_every_order(host: HostProcess) -> None:
    host.do("shell")
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        await granter.grant(id_, "sh", "shell", seconds=3600)
        async with await hob.connect(host.url, secret) as session:
            shell = session["sh"]
            for order in (*itertools.permutations(ACTS, 1), *itertools.permutations(ACTS, 2)):
                job = await E(shell).spawn(LONG)
                for act in order:
                    await ACTS[act](job)
                await whole(job)
            for first, second in (("stdout", "stderr"), ("stderr", "stdout")):
                job = await E(shell).spawn(LONG)
                one, other = await getattr(E(job), first)(), await getattr(E(job), second)()
                assert await everything(one) == EACH
                assert await everything(other) == EACH
                await whole(job)
                job = await E(shell).spawn(LONG)
                one, other = await E(job).stdout(), await E(job).stderr()
                assert await asyncio.gather(everything(one), everything(other)) == [EACH, EACH]
                await whole(job)
