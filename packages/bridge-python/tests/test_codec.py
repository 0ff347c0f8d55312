"""The codec against TypeScript's (`packages/vat/test/hob-codec.ts`): each decodes the other's output to the
same values, encodes them to the same text, and refuses the same input."""

from __future__ import annotations

import base64
import json
import math
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import hob
import pytest
from hob.captp.dialect import dumps
from hob.data import LARGEST
from hob.errors import CapError, Violation
from hob.captp.limits import Limits
from hob.reference import Promise, Ref
from hob.captp.structure import parse
from hob.captp.decode import Decoder, Incoming
from hob.captp.encode import Outgoing
from hob.message import Message, Target
from hob.vat_promise import VatPromise
from host_process import ROOT, needs_node
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

pytestmark = needs_node
LIMITS = Limits()


class Echo:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            ["node", "--expose-gc", str(ROOT / "packages/vat/test/hob-codec.ts")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.environ["PATH"]},
        )

    def __call__(self, text: str, run: bytes = b"") -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps({"bytes": base64.b64encode(run).decode(), "text": text}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.communicate()


@pytest.fixture(scope="module")
def typescript() -> Iterator[Echo]:
    echo = Echo()
    yield echo
    echo.close()


class Nowhere(Target):
    __slots__ = ("slot",)

    def __init__(self, slot: tuple[Any, int]) -> None:
        self.slot = slot

    def post(self, message: Message) -> None: ...


class Slots:
    """Each reference is its own slot."""

    def give(self, value: object) -> Any:
        if isinstance(value, Ref):
            return value._target.slot if isinstance(value._target, Nowhere) else None
        if isinstance(value, Promise):
            path = value._target.path
            return path.slot if isinstance(path, Nowhere) else None
        return None

    def take(self, kind: str, number: int) -> tuple[object, int]:
        if kind != "promise":
            return Ref(Nowhere((kind, number))), 0
        promise = VatPromise()
        promise.along(Nowhere((kind, number)))
        return Promise(promise), 0

    def fault(self, _error: BaseException) -> None:
        return None


def frame_of(args: list[Any]) -> tuple[str, bytes]:
    """Encodes arguments in Python."""
    out = Outgoing(Slots(), LIMITS)
    text = dumps(["deliver", 0, "m", [out.encode(arg) for arg in args], 1])
    return f"[{text}]", b"".join(out.parts)


def heard(text: str, run: bytes = b"") -> list[Any]:
    """Decodes a frame in Python."""
    incoming = Incoming(LIMITS)
    incoming.add(run)
    (operation,) = parse(text, LIMITS)  # type: ignore[misc]
    decoder = Decoder(Slots(), LIMITS, incoming)
    values = [decoder.value(item) for item in operation[3]]
    incoming.done()
    return values


def verdict(text: str, run: bytes = b"") -> Any:
    try:
        said, bytes_ = frame_of(heard(text, run))
    except Violation as error:
        return {"closed": error.code}
    except CapError as error:
        return {"refused": error.code}
    return {"bytes": base64.b64encode(bytes_).decode(), "text": said}


def same(x: Any, run: bytes) -> Any:
    """Normalises numbers to doubles and bytes to their content. JavaScript puts keys that are numbers first,
    and so their bytes."""
    if isinstance(x, list):
        return [same(each, run) for each in x]
    if isinstance(x, dict) and x.get("@") == "bytes":
        return {"bytes": run[x["at"] : x["at"] + x["n"]].hex()}
    if isinstance(x, dict):
        return {key: same(each, run) for key, each in x.items()}
    return float(x) if isinstance(x, (int, float)) and not isinstance(x, bool) else x


def compare(ours: Any, theirs: Any) -> None:
    assert ours.keys() == theirs.keys(), (ours, theirs)
    if "text" not in ours:
        assert ours == theirs
        return
    a, b = base64.b64decode(ours["bytes"]), base64.b64decode(theirs["bytes"])
    assert len(a) == len(b)
    assert same(json.loads(ours["text"]), a) == same(json.loads(theirs["text"]), b)


words = st.text(st.characters() | st.sampled_from("@\ud800\udfff\u2028\"\\"), max_size=12)
keys = (words | st.sampled_from(["@", "@x", "then", "toString", "constructor", "1", ""])).filter(lambda key: key != "__proto__")
references = st.builds(
    lambda kind, number: Slots().take(kind, number),
    st.sampled_from(["object", "promise", "yours", "answer"]),
    st.integers(0, LARGEST),
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-LARGEST, LARGEST),
    st.integers(-(10**40), 10**40),
    st.floats(),
    words,
    st.binary(max_size=40),
    st.just(hob.undefined),
    st.integers().map(hob.BigInt),
    st.sampled_from("abc").map(hob.Symbol),
    st.builds(hob.errors.inward, st.sampled_from(["denied", "NOT_FOUND", "no way", ""]), words),
    references,
)
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5).filter(lambda r: not isinstance(r.get("then"), Ref)),
    max_leaves=20,
)
fast = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


@fast
@given(st.lists(values, max_size=4))
@example([10**400, -(10**400), hob.BigInt(0), 2**53, -(2**53)])
@example([1e21, 1e-7, 5e-324, 123456789012345680000.0, -0.0, math.inf])
@example(["\ud83d\ude00", "\ud83d", {"\ude00@": "@"}])
@example([b"", b"\x00", [b"12", b""], {"a": b"3"}])
@example([{"": b"\x01", "0": b"\x00"}])
def test_typescript_decodes_and_encodes_what_python_wrote_to_the_same(typescript: Echo, args: list[Any]) -> None:
    text, run = frame_of(args)
    theirs = typescript(text, run)
    compare({"bytes": base64.b64encode(run).decode(), "text": text}, theirs)
    # Python decodes the text of TypeScript to the original value.
    again, rest = frame_of(heard(theirs["text"], base64.b64decode(theirs["bytes"])))
    compare({"bytes": base64.b64encode(rest).decode(), "text": again}, theirs)


strange = st.one_of(
    st.dictionaries(st.sampled_from(["@", "n", "at", "v", "code", "message", "@x", "@@", "then"]), st.none() | st.integers(-2, 5) | st.floats(-1, 2) | st.sampled_from(
        ["object", "promise", "yours", "answer", "bytes", "undefined", "number", "bigint", "symbol", "error", "NaN", "-0", "12", "-1", "1n", "", "0x1"]), max_size=4),
    st.sampled_from([
        {"@": "object", "n": 1}, {"@": "object", "n": -1}, {"@": "object", "n": 2**53}, {"@": "object", "n": 1, "x": 1}, {"__proto__": 1}, {"__proto__": {"@": "object", "n": 1}},
        {"then": {"@": "object", "n": 1}}, {"then": {"@": "promise", "n": 1}}, {"then": {"@": "undefined"}}, {"@": "bytes", "at": 0, "n": 1}, {"@": "bytes", "at": 0, "n": 0},
        {"@": "bigint", "v": "9" * 16_384}, {"@": "bigint", "v": "9" * 16_385}, {"@": "bigint", "v": "-" + "9" * 16_384}, {"@": "bigint", "v": "１"}, {"@": "bigint", "v": "1\n"},
        {"@": "symbol", "v": "x" * 256}, {"@": "symbol", "v": "x" * 257}, {"@": "error", "code": "a b", "message": "x"}, {"@": "error", "code": "a", "message": ""},
        {"@": "error", "code": "x" * 65, "message": "x" * 5000}, {"@": True}, {"@": None}, {"@": {"@": "object", "n": 1}}, {"@@@": 1}, {"@@": {"@": 1}},
    ]),
)  # fmt: skip


@fast
@given(strange, st.integers(0, 3), st.sampled_from(["", "a", "@a"]))
def test_both_codecs_refuse_the_same_strange_values(typescript: Echo, value: Any, inside: int, key: str) -> None:
    for _ in range(inside):
        value = {("@" + key if key[:1] == "@" else key): value} if key else [value]
    text = json.dumps([["deliver", 0, "m", [value], 1]])
    compare(verdict(text), typescript(text))


def nested(depth: int) -> str:
    return '[["deliver",0,"m",[' + "[" * depth + "]" * depth + "],1]]"


@pytest.mark.parametrize(
    "text",
    [
        *(nested(depth) for depth in (1, 127, 128, 129, 200, 260, 261, 262, 263, 300)),
        *('[["deliver",0,"m",[' + "1," * n + "1],1]]" for n in (199_990, 199_991, 199_992, 199_993, 199_994, 199_995, 200_001)),
        *('[["deliver",0,"m",[{' + ",".join(f'"k{i}":{i}' for i in range(n)) + "}],1]]" for n in (4096, 11_540, 11_541, 11_542, 11_543, 11_544, 11_600)),
        '[["deliver",0,"m",[' + ",".join(['{"a":1,"b":"c"}'] * 30_000) + "],1]]",
        *('[["deliver",0,"m",[' + ",".join(['"0123456789"'] * n) + "],1]]" for n in (40_000, 57_772, 57_773, 57_774, 57_775, 57_776, 57_777, 57_778, 57_779)),
        '[["deliver",0,"m",[' + ",".join(['"0123456789a"'] * 60_000) + "],1]]",
        *('[["deliver",0,"m",[' + ",".join(["[]"] * n) + "],1]]" for n in (32_765, 66_380, *range(66_381, 66_387))),
        *('[["deliver",0,"m",[' + ",".join(['{"@":"bigint","v":"' + "9" * digits + '"}'] * n) + "],1]]" for digits, n in ((16_384, 8), (16_384, 9), (100, 4000))),
        '[["deliver",0,"m",["' + "[,:{" * 100_000 + '"],1]]',
        '[["deliver",0,"m",["' + "x" * ((1 << 20) - 24) + '"],1]]',
        '[["deliver",0,"m",["' + "x" * (1 << 20) + '"],1]]',
        '[["deliver",0,"m",["' + "€" * 349_000 + '"],1]]',
        '[["deliver",0,"m",["' + "€" * 350_000 + '"],1]]',
        '[["deliver",0,"m",[{"@":"error","code":"a","message":"b"}' + ',{"@":"error","code":"a","message":"b"}' * 1000 + "],1]]",
        '[["deliver",0,"m",[tru],1]]',
        '[["deliver",0,"m",[01],1]]',
        '[["deliver",0,"m",["\n"],1]]',
        '[["deliver",0,"m",["\\x"],1]]',
        '[["deliver",0,"m",[1],1]]x',
        '[["deliver",0,"m",[1e5,1E5,-1.5e-3],1]] ',
        '\ufeff[["deliver",0,"m",[1],1]]',
        '[["deliver",0,"m",[{"a":1,"a":2}],1]]',
    ],
    ids=lambda text: text[20:44],
)  # fmt: skip
def test_both_codecs_accept_and_refuse_the_same_texts(typescript: Echo, text: str) -> None:
    compare(verdict(text), typescript(text))
