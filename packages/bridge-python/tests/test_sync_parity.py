"""`hob.sync` has what `hob` has for asyncio: the same methods, parameters, texts and errors."""

from __future__ import annotations

import asyncio
import functools
import inspect
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import hob
import pytest
from hob import streams
from host_process import HostProcess

HERE = Path(__file__).parents[1]

PAIRS = [(hob.Session, hob.sync.Session), (hob.Granter, hob.sync.Granter), (hob.Child, hob.sync.Child)]

# A session that waits is a mapping of its caps. Only `await` can list those of the other.
OF_A_MAPPING = {"keys"}
# A program without an event loop does not use these names.
OF_ASYNCIO = {"connection"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].__name__)
def test_each_method_is_there_with_its_parameters_and_its_text(pair: tuple[type, type]) -> None:
    theirs, ours = pair
    names = public(theirs) - OF_ASYNCIO
    if theirs is hob.Child:
        assert names - public(ours) <= {"url", "ca"}
        names &= public(ours)
        names -= {"url", "ca"}
    else:
        assert names == public(ours) - OF_A_MAPPING
    for name in names:
        one, other = getattr(theirs, name), getattr(ours, name)
        if callable(one):
            mine = inspect.signature(other).parameters
            assert list(mine.values()) == list(inspect.signature(one).parameters.values()), name
            assert not inspect.iscoroutinefunction(other), name
            assert inspect.getdoc(other), name
        if theirs is not hob.Child:
            assert inspect.getdoc(one) == inspect.getdoc(other), name


@pytest.mark.parametrize("pair", [(hob.connect, hob.sync.connect), (hob.connect_granter, hob.sync.connect_granter), (hob.enter, hob.sync.enter), (streams.write, hob.sync.write)])  # fmt: skip
def test_the_functions_have_the_same_parameters_and_texts(pair: Any) -> None:
    one, other = pair
    names = [list(inspect.signature(each).parameters) for each in pair]
    assert names[0] == names[1]
    assert inspect.getdoc(one) == inspect.getdoc(other)


def test_the_faces_are_what_the_classes_for_asyncio_make() -> None:
    done = subprocess.run([sys.executable, "generate_sync.py", "--check"], cwd=HERE, capture_output=True, text=True)
    assert done.returncode == 0, "run `python generate_sync.py`"


def deep() -> list[Any]:
    made: list[Any] = []
    for _ in range(100_000):
        made = [made]
    return made


def ring() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


class Unread:
    pass


WRONG = {
    "an unknown term": lambda s: s.request("directory", usses=1),
    "an unknown offer": lambda s: s.request("no-such-offer"),
    "caps as a text": lambda s: s.spawn_child("helper", "workspace"),
    "a cap of nobody": lambda s: s.spawn_child("helper", [s.root]),
    "a name that nobody may have": lambda s: s.spawn_child("host-x"),
    "a petname that is not there": lambda s: s.spawn_child("helper", ["nothing"]),
    "an object that is no cap": lambda s: s.petname_of(Unread()),
    "an object url of nobody": lambda s: s.resolve("/object/" + "a" * 52),
    "no url": lambda s: s.resolve(5),
    "a missing cap": lambda s: s["nothing"].readText("a"),
    "a missing method": lambda s: s["workspace"].nothing(),
    "a missing file": lambda s: s["workspace"].readText("no/such"),
    "an object that is not offered": lambda s: s["workspace"].readText(Unread()),
    "data that is too deep": lambda s: s["workspace"].readText(deep()),
    "data within itself": lambda s: s["workspace"].readText(ring()),
    "a record with numbers": lambda s: s["workspace"].readText({1: 2}),
    "a call of data": lambda s: s.root.caps().upper(),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
async def test_errors_are_alike(host: HostProcess, wrong: Any) -> None:
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        await granter.grant(id_, "workspace", "directory", uses=50)

    def waits() -> BaseException:
        with hob.sync.connect(host.url, secret) as session:
            try:
                wrong(session)
            except BaseException as error:
                return error
        raise AssertionError("it did not fail")

    other = await asyncio.to_thread(waits)
    async with await hob.connect(host.url, secret) as session:
        try:
            result = wrong(session)
            await result
        except BaseException as error:
            one: BaseException = error
        else:
            raise AssertionError("it did not fail")
    if isinstance(other, AttributeError):
        # A result that was awaited is data of Python.
        assert isinstance(one, hob.NotCallable)
        return
    assert type(one) is type(other)
    assert str(one) == str(other)


def test_what_was_missing(host: HostProcess) -> None:
    id_, secret = host.session()
    with hob.sync.connect_granter(host.url, host.granter_secret) as granter:
        assert granter.verify()["ok"] is True
        granter.grant(id_, "workspace", "directory", uses=500)
        session = hob.sync.connect(host.url, secret)
        assert session.root.caps() == ["workspace"]
        assert session.petname_of(session["workspace"]) == "workspace"
        # One that waits for caps itself, in the thread of the caller.
        child = session.spawn_child("helper", (session[name] for name in session))
        assert child.caps() == ["workspace"]
        assert child.id in {each["id"] for each in granter.sessions()}
        again = hob.sync.connect(host.url, child.secret)
        assert again.caps() == ["workspace"]
        # The newer connection took the place of the first one.
        assert child.ended()[0] == 4401
        assert child.secret not in repr(child)
        ends: list[tuple[int, str]] = []
        waiting = threading.Thread(target=lambda: ends.append(again.ended()))
        waiting.start()
        granter.end(child.id)
        waiting.join(60)
        assert ends[0][0] == 4403
        session.close()


async def test_functions_of_every_kind_can_be_offered() -> None:
    from wire import pair

    class Root(hob.Far):
        def call(self, what: Any, *args: Any) -> Any:
            return hob.E(what)(*args)

    @functools.lru_cache
    def cached(x: int) -> int:
        return x + 1

    async def later(x: int) -> int:
        return x + 2

    class Callable:
        def __call__(self) -> None: ...

    client, _ = pair(b=Root())
    for function, args, result in [
        (print, (), None),
        (len, ([1, 2],), 2),
        (functools.partial(pow, 2), (5,), 32),
        (cached, (1,), 2),
        (later, (1,), 3),
        (functools.partial(later, 5), (), 7),
        ([].append, (1,), None),
        (lambda: "x", (), "x"),
    ]:
        assert await hob.E(client.bootstrap).call(hob.far(function), *args) == result
    for wrong in (Callable(), Callable, int, object(), "x", 5, None):
        with pytest.raises(hob.Invalid, match="hob.far"):
            hob.far(wrong)
    client.close()
    await asyncio.sleep(0)
