"""docs/wire.md, rule by rule: a peer that speaks by hand, honest and hostile."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from typing import Any

import hob
import pytest
from hob import E
from hob.captp.limits import Limits
from hob.captp.encode import Outgoing
from wire import ByHand, quiet


class Thing(hob.Far):
    def echo(self, *values: Any) -> Any:
        return list(values)

    def self(self) -> Thing:
        return self

    def give(self) -> Any:
        return Thing()

    async def never(self) -> None:
        await asyncio.Event().wait()

    def twice(self, x: Any) -> Any:
        return [x, x]

    def hear(self, x: Any) -> None:
        heard.append(x)


heard: list[Any] = []

D = {"@": "object", "n": 1}
VIOLATIONS: list[tuple[list[Any] | str, str]] = [
    ("not json", "a frame is not JSON"),
    ("{}", "a frame is a list"),
    ("[]", "a frame is a list"),
    ("[1]", "an operation is a list"),
    ("[[]]", "an operation is a list"),
    ('[["explode"]]', "an unknown operation"),
    ('[["deliver",0,"echo",[NaN],1]]', "no number of JSON"),
    ('[["deliver",0,"echo",[1' + "0" * 500 + "],1]]", "not finite"),
    ([["deliver"]], "malformed"),
    ([["deliver", 0, "echo", [], 0]], "malformed"),
    ([["deliver", 0, "echo", [], 1, 2]], "malformed"),
    ([["deliver", 0, 5, []]], "malformed"),
    ([["deliver", 0, "echo", {}]], "malformed"),
    ([["deliver", -1, "echo", []]], "malformed"),
    ([["deliver", True, "echo", []]], "malformed"),
    ([["deliver", [1, 2], "echo", []]], "malformed"),
    ([["deliver", [0], "echo", []]], "malformed"),
    ([["deliver", 0, "echo", [], 2], ["deliver", 0, "echo", [], 2]], "same question number"),
    ([["deliver", 0, "echo", [], 2], ["deliver", 0, "echo", [], 1]], "same question number"),
    ([["deliver", [7], "echo", [], 2]], "never asked"),
    ([["deliver", [2], "echo", [], 2]], "never asked"),
    ([["deliver", [1], "echo", []]], "never asked"),
    ([["deliver", 9, "echo", [], 1]], "never exported"),
    ([["return", 1, 1]], "was not asked"),
    ([["return", 0, 1]], "malformed"),
    ([["return", 1]], "malformed"),
    ([["fail", 1, "denied", "no"]], "was not asked"),
    ([["fail", 1, "denied"]], "malformed"),
    ([["resolve", 1]], "malformed"),
    ([["break", 1, "denied"]], "malformed"),
    ([["drop", 1]], "malformed"),
    ([["drop", 1, -1]], "malformed"),
    ([["done"]], "malformed"),
    ([["done", 0]], "malformed"),
    ([["deliver", 0, "echo", [{"@": "yours", "n": 9}], 1]], "never exported"),
    ([["deliver", 0, "echo", [{"@": "answer", "n": 9}], 1]], "was not asked"),
    ([["deliver", 0, "echo", [{"@": "object", "n": 1}, {"@": "promise", "n": 1}], 1]], "an object and for a promise"),
    ([["deliver", 0, "echo", [{"@": "object"}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "object", "n": 1, "x": 1}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "object", "n": 1.5}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "strange"}], 1]], "unknown kind"),
    ([["deliver", 0, "echo", [{"@": ["object"], "n": 1}], 1]], "unknown kind"),
    ([["deliver", 0, "echo", [{"@x": 1}], 1]], "begins with a single @"),
    ([["deliver", 0, "echo", [{"@": "bigint", "v": "1.5"}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "bigint", "v": "--5"}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "bigint", "v": "٣"}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "number", "v": "1"}], 1]], "malformed value"),
    ([["deliver", 0, "echo", [{"@": "bytes", "at": 0, "n": 1}], 1]], "does not bring"),
    ("[" * 300 + "]" * 300, "nested"),
    ('[["deliver",0,"echo",[' + "1," * 200_001 + "1],1]]", "tokens"),
    ([["done", 1]] * 4097, "operations"),
]  # fmt: skip


@pytest.mark.parametrize(("frame", "reason"), VIOLATIONS, ids=[str(i) for i in range(len(VIOLATIONS))])
async def test_a_frame_that_breaks_the_rules_closes_with_the_reason(frame: Any, reason: str) -> None:
    peer = ByHand(Thing())
    peer.raw(frame if isinstance(frame, str) else json.dumps(frame))
    await quiet()
    assert peer.theirs.closed is not None, "it is open"
    assert peer.theirs.closed[0] == 4400 and reason in peer.theirs.closed[1]
    assert peer.connection.stats() == hob.Stats(0, 0, 0, 0, 0, 0)
    assert peer.faults == []


async def test_messages_that_cross_are_no_violation() -> None:
    peer = ByHand(Thing())
    peer.say(["resolve", 5, 1], ["break", 6, "denied", "no"], ["drop", 9, 3], ["drop", 0, 5], ["done", 8])
    peer.say(["deliver", 0, "give", [], 1])
    assert await peer.answer(1) == {"@": "object", "n": 1}
    peer.say(["drop", 1, 50, 1, 1], ["deliver", 0, "echo", [1], 2])
    assert await peer.answer(2) == [1]
    peer.connection.close()


async def test_brackets_in_a_string_do_not_count() -> None:
    peer = ByHand(Thing())
    text = '[{,:"\\' * 50_000
    peer.say(["deliver", 0, "echo", [text], 1])
    assert await peer.answer(1) == [text]
    peer.connection.close()


async def test_hostile_text_is_refused_without_parsing() -> None:
    for text in ("[" * 1_000_000, '["' + "\\" * 1_000_000, "[1," * 330_000, '{"a":' * 200_000, '["[[[' * 200_000):
        peer = ByHand(Thing())
        began = time.thread_time()
        peer.connection.receive(text)
        took = time.thread_time() - began
        assert peer.theirs.closed is not None and peer.theirs.closed[0] == 4400
        assert took < 10, f"{text[:5]} took {took}"  # parsing it would exhaust the memory


async def test_too_large_a_frame_closes_with_1009() -> None:
    peer = ByHand(Thing())
    peer.raw('["' + "x" * (1 << 20) + '"]')
    await quiet()
    assert peer.theirs.closed is not None and peer.theirs.closed[0] == 1009
    # 400,000 letters of three bytes.
    peer = ByHand(Thing())
    peer.raw('["' + "€" * 400_000 + '"]')
    await quiet()
    assert peer.theirs.closed is not None and peer.theirs.closed[0] == 1009


async def test_a_value_that_is_too_deep_is_refused_and_the_connection_goes_on() -> None:
    peer = ByHand(Thing())
    deep: Any = 0
    for _ in range(130):
        deep = [deep]
    peer.say(["deliver", 0, "echo", [deep], 1], ["deliver", 0, "echo", ["on"], 2])
    assert str(await peer.answer(1)).startswith("invalid")
    assert await peer.answer(2) == ["on"]
    with pytest.raises(hob.Invalid):
        await E(peer.connection.bootstrap).take([deep])
    around: list[Any] = []
    around.append(around)
    with pytest.raises(hob.Invalid):
        await E(peer.connection.bootstrap).take(around)
    with pytest.raises(hob.Limit):
        await E(peer.connection.bootstrap).take("x" * (2 << 20))
    with pytest.raises(hob.Limit):
        await E(peer.connection.bootstrap).take([0] * 250_000)
    for at, refused in enumerate(({"@": "bigint", "v": "9" * 16_385}, {"then": {"@": "object", "n": 3}})):
        peer.say(["deliver", 0, "echo", [refused], 3 + at])
        assert str(await peer.answer(3 + at)).startswith("invalid")
    peer.connection.close()


async def test_bytes_come_before_their_frame_and_each_belongs_to_one_value() -> None:
    peer = ByHand(Thing())
    peer.raw(b"hello ")
    peer.raw(b"")
    peer.raw(b"world")
    peer.say(["deliver", 0, "echo", [{"@": "bytes", "at": 0, "n": 6}, {"@": "bytes", "at": 6, "n": 5}], 1])
    assert await peer.answer(1) == [{"@": "bytes", "at": 0, "n": 6}, {"@": "bytes", "at": 6, "n": 5}]
    assert b"".join(frame for frame in peer.theirs.frames if isinstance(frame, bytes)) == b"hello world"
    peer.raw(b"unused")
    peer.say(["deliver", 0, "echo", [], 2])
    await quiet()
    assert peer.theirs.closed == (4400, "the frame brings bytes that no value names")
    peer = ByHand(Thing())
    peer.raw(b"ab")
    peer.say(["deliver", 0, "echo", [{"@": "bytes", "at": 0, "n": 2}, {"@": "bytes", "at": 0, "n": 2}], 1])
    await quiet()
    assert peer.theirs.closed == (4400, "two values name the same bytes")


async def test_a_value_that_is_refused_costs_the_frame_only_itself() -> None:
    peer = ByHand(Thing())
    peer.raw(b"abc")
    too_many = {"@": "bigint", "v": "9" * 16_385}
    peer.say(
        ["deliver", 0, "echo", [{"@": "bytes", "at": 2, "n": 1}], 1],
        ["deliver", 0, "echo", [[{"@": "bytes", "at": 0, "n": 1}, too_many]], 2],
        ["deliver", 0, "echo", [{"@": "bytes", "at": 1, "n": 1}], 3],
    )
    assert await peer.answer(1) == [{"@": "bytes", "at": 0, "n": 1}]
    assert str(await peer.answer(2)).startswith("invalid")
    assert await peer.answer(3) == [{"@": "bytes", "at": 0, "n": 1}]
    peer.connection.close()


async def test_object_0_is_mentioned_like_others_and_never_given_back() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", [{"@": "object", "n": 0}, {"@": "yours", "n": 0}], 1])
    assert await peer.answer(1) == [{"@": "yours", "n": 0}, {"@": "object", "n": 0}]
    peer.say(["drop", 0, 5], ["deliver", 0, "echo", ["still"], 2])
    assert await peer.answer(2) == ["still"]
    peer.say(["deliver", 0, "echo", [{"@": "promise", "n": 0}], 3])
    await quiet()
    assert peer.theirs.closed == (4400, "one number is used for an object and for a promise")


async def test_after_done_a_call_of_the_answer_fails_and_a_value_that_names_it_closes() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "self", [], 1], ["done", 1], ["deliver", [1], "echo", [], 2])
    assert str(await peer.answer(2)).startswith("not-callable")
    peer.say(["deliver", 0, "echo", [{"@": "answer", "n": 1}], 3])
    await quiet()
    assert peer.theirs.closed is not None and peer.theirs.closed[0] == 4400


async def test_a_question_that_is_answered_with_a_promise_becomes_that_promise() -> None:
    peer = ByHand()
    asked = asyncio.ensure_future(E(peer.connection.bootstrap).ask())
    await quiet()
    peer.say(["return", 1, {"@": "promise", "n": 5}])
    await quiet()
    assert not asked.done()
    peer.say(["resolve", 5, "at last"])
    assert await asked == "at last"
    peer.connection.close()


async def test_a_method_has_at_most_1024_letters() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "m" * 1024, [], 1], ["deliver", 0, "m" * 1025, [], 2])
    for number in (1, 2):
        assert str(await peer.answer(number)).startswith("no-such-method")
    peer.connection.close()


async def test_the_name_of_a_symbol_has_at_most_256_letters() -> None:
    peer = ByHand(Thing())
    with pytest.raises(hob.CapError) as refused:
        await E(peer.connection.bootstrap).take(hob.Symbol("x" * 257))
    assert refused.value.code == "invalid"
    peer.say(["deliver", 0, "echo", [{"@": "symbol", "v": "x" * 256}], 1])
    assert await peer.answer(1) == [{"@": "symbol", "v": "x" * 256}]
    peer.say(["deliver", 0, "echo", [{"@": "symbol", "v": "x" * 257}], 2])
    await quiet()
    assert peer.theirs.closed == (4400, 'a malformed value of the kind "symbol"')


def part(at: int, n: int) -> dict[str, Any]:
    return {"@": "bytes", "at": at, "n": n}


@pytest.mark.parametrize(
    "parts",
    [[part(0, 3), part(1, 3)], [part(3, 3), part(2, 3)], [part(2, 2), part(0, 3), part(5, 1)], [part(4, 2), part(0, 5)], [part(5, 1), part(5, 1), part(0, 4)]],
)
async def test_the_parts_of_a_frames_bytes_do_not_overlap(parts: list[Any]) -> None:
    peer = ByHand(Thing())
    peer.raw(b"abcdef")
    peer.say(["deliver", 0, "echo", parts, 1])
    await quiet()
    assert peer.theirs.closed == (4400, "two values name the same bytes")


async def test_bytes_in_any_order_each_have_their_value() -> None:
    peer = ByHand(Thing())
    peer.raw(b"abc")
    peer.raw(b"def")
    peer.say(["deliver", 0, "echo", [part(4, 2), part(6, 0), part(0, 1), part(1, 3)], 1])
    assert await peer.answer(1) == [part(0, 2), part(2, 0), part(2, 1), part(3, 3)]
    assert b"".join(frame for frame in peer.theirs.frames if isinstance(frame, bytes)) == b"efabcd"
    peer.connection.close()


async def test_bytes_that_wait_for_their_frame_are_counted() -> None:
    peer = ByHand(Thing(), Limits(memory_bytes=1 << 20, frame_bytes=1 << 18))
    for _ in range(100_000):
        peer.connection.receive(b"x")
        if peer.theirs.closed is not None:
            break
    assert peer.theirs.closed is not None and peer.theirs.closed[0] in (1009, 4400)


async def test_calls_that_are_not_answered_are_bounded() -> None:
    peer = ByHand(Thing(), Limits(questions=10))
    peer.say(*(["deliver", 0, "never", [], n] for n in range(1, 12)))
    assert str(await peer.answer(11)).startswith("limit")
    peer.connection.close()
    peer = ByHand(Thing(), Limits(memory_bytes=100_000))
    peer.say(*(["deliver", 0, "never", [], n] for n in range(1, 100)))
    await quiet()
    assert peer.theirs.closed == (4400, "this connection keeps more than it may: connect again")


async def test_exports_and_imports_are_bounded() -> None:
    peer = ByHand(Thing(), Limits(exports=10))
    peer.say(*(["deliver", 0, "give", [], n] for n in range(1, 12)))
    assert str(await peer.answer(11)).startswith("limit")
    peer.say(["deliver", 0, "echo", [[{"@": "object", "n": n} for n in range(1, 20)]], 20])
    assert str(await peer.answer(20)).startswith("limit")
    peer.connection.close()


async def test_answers_that_double_do_not_fill_the_memory() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", ["x" * 1000], 1])
    await quiet()
    for n in range(1, 24):
        peer.say(["deliver", 0, "twice", [{"@": "answer", "n": n}], n + 1])
        await quiet(5)
    answers = [str(await peer.answer(n)) for n in range(2, 25)]
    assert any(answer.startswith("limit") for answer in answers)
    assert all(len(frame) <= 1 << 20 for frame in peer.theirs.frames)
    assert peer.connection.stats().bytes < 64 << 20


async def test_a_value_that_is_too_large_is_refused_before_it_is_built() -> None:
    value: Any = ["x" * 1000]
    for _ in range(14):
        value = [value, value]
    for shared in (value, {"a": value}, (value,)):
        with pytest.raises(hob.Limit):
            Outgoing(ByHand().connection, Limits()).encode(shared)


async def test_answers_are_kept_until_they_are_done_and_are_counted() -> None:
    peer = ByHand(Thing(), Limits(memory_bytes=1 << 20))
    for n in range(1, 100):
        peer.say(["deliver", 0, "echo", ["x" * 10_000], n], ["done", n])
        await quiet(5)
    assert peer.theirs.closed is None and peer.connection.stats().answers == 0
    for n in range(100, 300):
        peer.say(["deliver", 0, "echo", ["x" * 10_000], n])
    await quiet()
    assert peer.theirs.closed is not None and peer.theirs.closed[0] == 4400


async def test_a_peer_that_does_not_read_is_closed() -> None:
    peer = ByHand(Thing(), Limits(buffered_bytes=1000, frame_bytes=1000))
    peer.theirs.stuck = 1500
    with pytest.raises(hob.Limit):
        await E(peer.connection.bootstrap).x()
    peer.theirs.stuck = 3000
    peer.say(["deliver", 0, "echo", [], 1])
    await quiet()
    assert peer.theirs.closed == (4400, "the peer does not read what it asked for")


async def test_no_message_overtakes_those_on_their_way_back() -> None:
    """docs/wire.md, "Order": hold, flush along the same path, and go on when the flush is answered."""
    heard.clear()
    peer = ByHand(Thing())
    mine = Thing()
    p = E(peer.connection.bootstrap).get(mine)
    E(p).hear(1)
    waiting = asyncio.ensure_future(p)
    await quiet()
    peer.say(["return", 1, {"@": "yours", "n": 1}])
    await quiet()
    assert not waiting.done()
    E(p).hear(2)
    said = await peer.said()
    assert said[-1][:4] == ["deliver", [1], "__flush__", []]
    flush = said[-1][4]
    # It forwards the earlier messages, and then the flush.
    peer.say(["deliver", 1, "hear", [1]], ["deliver", 1, "__flush__", [], 1])
    await quiet()
    assert heard == [1] and not waiting.done()
    assert await peer.answer(1) is not None
    peer.say(["return", flush, {"@": "undefined"}])
    assert await waiting is mine
    E(mine).hear(3)
    await quiet()
    assert heard == [1, 2, 3]
    peer.connection.close()


async def test_a_flush_is_answered_behind_the_calls_before_it() -> None:
    peer = ByHand(Thing())
    peer.say(["deliver", 0, "echo", [1], 1], ["deliver", 0, "__flush__", [], 2], ["deliver", 0, "echo", [3], 3])
    assert [operation[1] for operation in await peer.said() if operation[0] == "return"] == [1, 2, 3]
    # A flush of a pending answer returns when it settles; of data, and of nothing, at once.
    peer.say(["deliver", 0, "never", [], 4], ["deliver", [4], "__flush__", [], 5], ["deliver", [1], "__flush__", [], 6])
    assert await peer.answer(5) is None and await peer.answer(6) is not None
    peer.connection.close()


async def test_the_same_for_an_imported_promise() -> None:
    heard.clear()
    peer = ByHand(Thing())
    mine = Thing()
    waits = E(peer.connection.bootstrap).get(mine)
    await quiet()
    peer.say(["return", 1, [{"@": "promise", "n": 4}]])
    (p,) = await waits
    E(p).hear(1)
    await quiet()
    peer.say(["resolve", 4, {"@": "yours", "n": 1}])
    waiting = asyncio.ensure_future(p)
    await quiet()
    E(p).hear(2)
    said = await peer.said()
    assert not waiting.done() and said[-1][:4] == ["deliver", 4, "__flush__", []]
    peer.say(["deliver", 1, "hear", [1]], ["fail", said[-1][4], "no-such-method", "what is that"])
    assert await waiting is mine
    await quiet()
    assert heard == [1, 2]
    assert ["drop", 4, 1] in await peer.said()
    peer.connection.close()


async def test_a_promise_that_is_mentioned_while_its_drop_crosses_is_told_again() -> None:
    peer = ByHand(Thing())
    promise, resolver = hob.promise()
    E(peer.connection.bootstrap).take([promise, promise])
    await quiet()
    resolver.fulfil("done")
    assert ["resolve", 1, "done"] in await peer.said()
    peer.say(["drop", 1, 1])
    assert (await peer.said()).count(["resolve", 1, "done"]) == 2
    peer.say(["drop", 1, 1])
    await quiet()
    assert peer.connection.stats().exports == 1
    peer.connection.close()


async def test_mentions_are_counted_and_given_back_together() -> None:
    peer = ByHand(Thing())
    for n in range(3):
        peer.say(["deliver", 0, "echo", [D], n + 1], ["done", n + 1])
    await quiet()
    gc.collect()
    await quiet()
    drops = [operation for operation in await peer.said() if operation[0] == "drop"]
    assert sum(count for drop in drops for at, count in zip(drop[1::2], drop[2::2], strict=True) if at == 1) == 3
    peer.connection.close()


async def test_a_program_that_waits_for_ever_keeps_no_connection() -> None:
    peer = ByHand(Thing())
    promise, _resolver = hob.promise()
    E(peer.connection.bootstrap).take([promise])
    await quiet()
    peer.connection.close()
    import weakref

    seen = weakref.ref(peer.connection)
    del peer
    await quiet()
    gc.collect()
    assert seen() is None
    del promise


async def test_a_return_on_a_broken_answer_fails_and_the_session_goes_on() -> None:
    for method in ("next", "return", "close", "abort"):
        peer = ByHand(Thing())
        peer.say(["deliver", 0, "missing", [], 1])
        await peer.answer(1)
        peer.say(["deliver", [1], method, [], 2], ["deliver", 0, "echo", [1], 3])
        assert str(await peer.answer(2)).startswith("no-such-method")
        assert await peer.answer(3) == [1]
        peer.connection.close()
        assert peer.faults == []


@pytest.mark.parametrize(
    ("part", "name"),
    [
        ("_dialect_session", "flush"),
        ("_dialect_session", "answer"),
        ("_dialect_session", "refuse"),
        ("_streams", "end"),
        ("_streams", "answered"),
        ("_exports", "commit_exports"),
        ("_exports", "clear"),
        ("_answers", "keep"),
        ("_answers", "clear"),
        ("_questions", "give_back"),
        ("_dialect_session", "receive"),
    ],
)
async def test_a_fault_of_ours_ends_its_own_connection_and_nothing_else(part: str, name: str) -> None:
    loop_errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: loop_errors.append(context))
    peer, other = ByHand(Thing()), ByHand(Thing())
    fault = RuntimeError("a fault of ours")

    class Failing:
        """Fails in one method. Everything else is unchanged."""

        def __init__(self, real: object) -> None:
            self._real = real

        def __getattr__(self, asked: str) -> object:
            return self._fail if asked == name else getattr(self._real, asked)

        def __len__(self) -> int:
            return 0

        def _fail(self, *_args: object) -> None:
            raise fault

    for owner in (peer.connection, peer.connection._outbound, peer.connection._exports):
        if hasattr(owner, part.lstrip("_")):
            object.__setattr__(owner, part.lstrip("_"), Failing(getattr(owner, part.lstrip("_"))))
        if hasattr(owner, part):
            object.__setattr__(owner, part, Failing(getattr(owner, part)))
    peer.say(["deliver", 0, "echo", [{"@": "object", "n": 1}], 1], ["deliver", 0, "missing", [], 2], ["deliver", 0, "next", [], 3])
    await quiet()
    other.say(["deliver", 0, "echo", [1], 1])
    assert await other.answer(1) == [1]
    peer.connection.close()
    await quiet()
    assert peer.theirs.closed is not None
    assert all(error is fault for error in peer.faults)
    assert loop_errors == []
    other.connection.close()
