"""Many Hermes at once on the secret of one session: each has Hob's tools, does its call, and ends.

`HOB_CROWD=20x50 python -m pytest -s -o faulthandler_timeout=0 tests/test_hermes_crowd.py` runs twenty at once, fifty
times, in about forty minutes. It prints each round that is over."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from hermes_world import OURS, World, call, says

AT_ONCE, ROUNDS = map(int, os.environ.get("HOB_CROWD", "7x1").split("x"))


def test_many_hermes_at_once_on_one_secret_have_their_tools_and_end(world: World) -> None:
    _, secret = world.session(workspace=("directory", {"uses": 100_000}))
    homes = [world.home(secret) for _ in range(AT_ONCE)]
    for turn in range(ROUNDS):
        # The last word keeps one name from being the beginning of another.
        names = [f"round {turn} hermes {n} begins" for n in range(AT_ONCE)]
        for name in names:
            world.model.script(name, call("read", cap="workspace", path="notes.txt"), says("done"))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            ended = list(pool.map(lambda home, name: home.chat(name), homes, names))
        for name, done in zip(names, ended, strict=True):
            assert done.returncode == 0, (name, done.stderr[-2000:])
            offered = world.model.offered(name)
            assert offered and all(len(tools) == len(OURS) for tools in offered), (name, offered, done.stderr[-2000:])
            assert world.model.results(name) == [{"result": "notes\n"}], (name, world.model.results(name))
        print(f"round {turn + 1} of {ROUNDS}: {AT_ONCE} Hermes had their tools, did their call and ended", flush=True)
