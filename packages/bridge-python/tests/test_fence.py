"""An internal error in an entry of a connection ends that connection, and nothing else."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import hob
import pytest
from hob import E
from hob.captp.answers import Answers
from hob.captp.dialect import DialectSession
from hob.captp.exports import Exports
from hob.captp.outbound import Outbound
from hob.captp.questions import Questions
from hob.errors import CapError
from hob.vat_promise import VatPromise
from wire import ByHand, quiet


class Thing(hob.Far):
    def echo(self, *values: Any) -> Any:
        return list(values)

    def take(self, _value: Any) -> None:
        return None

    def refuse(self) -> None:
        raise CapError("denied", "not for you: ask for it")


SITES: list[tuple[type[Any], str]] = [
    (Answers, "ask"),
    (Answers, "keep"),
    (Answers, "done"),
    (Answers, "clear"),
    (DialectSession, "flush"),
    (DialectSession, "answer"),
    (DialectSession, "refuse"),
    (DialectSession, "drop"),
    (Exports, "commit_exports"),
    (Outbound, "forget_soon"),
    (Questions, "give_back"),
    (Questions, "clear"),
    (VatPromise, "break_"),
]


class Broken:
    """Makes the next call of a method raise."""

    def __init__(self, of: type[Any], method: str) -> None:
        self.error = RuntimeError(f"a fault in {of.__name__}.{method}")
        self.of, self.method, self.real = of, method, getattr(of, method)
        self.calls = 0

        def broken(*args: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == 1:
                raise self.error
            return self.real(*args, **named)

        setattr(of, method, broken)

    def restore(self) -> None:
        setattr(self.of, self.method, self.real)


# The site is the one that tells a call, so nothing behind it can.
UNTOLD = {"Questions.clear": 2, "VatPromise.break_": 1}


async def outcome(call: Any) -> Any:
    try:
        return await call
    except CapError as error:
        return error.code


@pytest.mark.parametrize(("of", "method"), SITES, ids=[f"{of.__name__}.{method}" for of, method in SITES])
async def test_an_internal_error_ends_its_connection_and_no_other(of: type[Any], method: str) -> None:
    uncaught: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, about: uncaught.append(about))
    one, two = ByHand(Thing()), ByHand(Thing())
    two.say(["deliver", 0, "echo", ["before"], 1])
    assert await two.answer(1) == ["before"]
    waits = [asyncio.ensure_future(outcome(E(one.connection.bootstrap).ask())) for _ in range(2)]
    await quiet()
    fault = Broken(of, method)
    try:
        one.say(["deliver", 0, "take", [{"@": "object", "n": 5}], 1])
        one.say(["deliver", 0, "refuse", [], 2])
        await quiet()
        one.say(["done", 1, 2])
        gc.collect()
        await quiet()
        one.connection.close()
        await quiet()
    finally:
        fault.restore()
    assert fault.calls > 0
    assert one.theirs.closed is not None and "a fault in" not in one.theirs.closed[1]
    # The refusal of a call may be recorded too.
    assert [error for error in one.faults if not isinstance(error, CapError)] == [fault.error]
    told = [wait.result() for wait in waits if wait.done()]
    assert told == ["disconnected"] * (2 - UNTOLD.get(f"{of.__name__}.{method}", 0))
    for wait in waits:
        wait.cancel()
    two.say(["deliver", 0, "echo", ["after"], 2])
    assert await two.answer(2) == ["after"]
    assert two.faults == [] and uncaught == []
    two.connection.close()
