"""Tools for models: the tools offered, their reach, and that likeness of names causes no call."""

from __future__ import annotations

import contextlib
import difflib
import json
import string
from collections.abc import AsyncIterator
from typing import Any

import hob
import pytest
from hob import tools
from host_process import HostProcess, needs_node
from hypothesis import given, settings
from hypothesis import strategies as st

LETTERS = string.ascii_lowercase + "_"
OURS = ["read", "entries", "search", "write", "edit", "mkdir", "run", "launch", "request", "invoke"]


def typos(name: str) -> set[str]:
    found = set()
    for at in range(len(name) + 1):
        found |= {name[:at] + letter + name[at:] for letter in LETTERS}
        if at < len(name):
            found |= {name[:at] + letter + name[at + 1 :] for letter in LETTERS} | {name[:at] + name[at + 1 :]}
        if at + 1 < len(name):
            found.add(name[:at] + name[at + 1] + name[at] + name[at + 2 :])
    return found - {name}


def repaired(name: str, offered: list[str]) -> str | None:
    """As Hermes repairs an unknown name (docs/measurements/hermes.md): case, - and _, a suffix, then likeness
    of 0.7."""
    if name in offered:
        return name
    for form in (name.lower(), name.lower().replace("-", "_"), name.lower().removesuffix("_tool")):
        if form in offered:
            return form
    close = difflib.get_close_matches(name.lower(), offered, n=1, cutoff=tools.CUTOFF)
    return close[0] if close else None


def test_no_typo_turns_a_verb_into_another() -> None:
    assert tools.too_close(OURS) is None
    for name in OURS:
        others = [each for each in OURS if each != name]
        for typo in {name, *typos(name)}:
            assert repaired(typo, OURS) in (name, None), typo
            # Also if it is not offered, because its cap was revoked.
            assert repaired(typo, others) is None, typo
    # The obvious names would not do.
    assert repaired("elit", ["edit", "list"]) == "list"
    assert tools.too_close(["edit", "list"]) == ("edit", "list")
    assert tools.too_close(["grant_read", "grant_write"]) is not None
    assert tools.too_close(["a-b", "A_B"]) is not None and tools.too_close(["x_tool", "x"]) is not None


async def test_a_verb_near_one_of_a_directory_is_refused_with_the_way_out_and_that_way_works() -> None:
    class Session:
        async def caps(self) -> list[str]:
            return ["mail"]

    holder: Any = Session()
    send = tools.verb("send", "Sends a mail.", {"to": {"type": "string"}})
    with pytest.raises(hob.Invalid, match=r'"send" into "read".*otherwise=\(\)'):
        await tools.of(holder, {"mail": (send,)})
    assert (await tools.of(holder, {"mail": (send,)}, otherwise=())).names == ["send", "request"]
    # Between two verbs of the caller's own, nothing can be left out.
    near = tools.verb("sends", "Sends more.", {})
    with pytest.raises(hob.Invalid, match="further away$"):
        await tools.of(holder, {"mail": (send, near)}, otherwise=())


words = st.text(st.sampled_from(string.ascii_lowercase[:8] + "_"), min_size=1, max_size=9)


@settings(max_examples=150, deadline=None)
@given(st.lists(words, min_size=2, max_size=4, unique=True), st.data())
def test_names_that_are_accepted_are_far_enough_apart(names: list[str], data: Any) -> None:
    if tools.too_close(names) is not None:
        return
    name = data.draw(st.sampled_from(names))
    typo = data.draw(st.sampled_from(sorted({name, *typos(name)})))
    offered = data.draw(st.lists(st.sampled_from(names), unique=True))
    assert repaired(typo, offered) in (name, None)


INVOKE = (tools.verb("invoke", "Does it.", {"args": {"type": "string"}}),)


@contextlib.asynccontextmanager
async def entered(host: HostProcess, can_request: bool = True, **grants: Any) -> AsyncIterator[tuple[tools.Tools, hob.Session, hob.Granter, str]]:
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        for petname, (offered, terms) in grants.items():
            await granter.grant(id_, petname, offered, **terms)
        async with await hob.connect(host.url, secret) as session:
            yield await tools.of(session, {"op": INVOKE, "op-b": INVOKE}, can_request=can_request), session, granter, id_


FOLDER: Any = ("directory", {"uses": 100})
OP: Any = ("dangerous-op", {"uses": 2})


@needs_node
async def test_both_formats_list_the_held_petnames_as_an_argument(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER, op=OP) as (made, _s, _g, _i):
        openai = {each["function"]["name"]: each["function"]["parameters"] for each in made.openai()}
        anthropic = {each["name"]: each["input_schema"] for each in made.anthropic()}
        assert openai == anthropic and set(openai) == {"read", "entries", "search", "write", "edit", "mkdir", "invoke", "request"}
        assert openai["read"]["properties"]["cap"]["enum"] == ["notes"]
        assert openai["invoke"]["properties"]["cap"]["enum"] == ["op"]
        assert openai["read"]["required"] == ["cap", "path"]
        assert all(schema["additionalProperties"] is False for schema in openai.values())
        json.dumps(made.openai() + made.anthropic())
    async with entered(host, can_request=False) as (made, _s, _g, _i):
        assert made.openai() == []


@needs_node
async def test_functions_refuse_in_words_what_a_loop_lets_through_and_reach_what_is_granted_later(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER, op=OP) as (made, _s, granter, id_):
        functions = {each.name: each for each in made.functions()}
        assert list(functions) == made.names
        read = functions["read"]
        # A loop that checks arguments by itself would refuse another cap before we could say how to ask for it.
        cap = read.parameters["properties"]["cap"]
        assert "enum" not in cap and cap["description"].endswith(": notes")
        assert await read.coroutine(cap="notes", path="notes.txt") == "notes\n"
        assert await read.call('{"cap": "notes", "path": "notes.txt"}') == "notes\n"
        assert 'request {"cap": "more"' in await read.coroutine(cap="more", path="notes.txt")
        await granter.grant(id_, "more", "directory", uses=1)
        assert await read.coroutine(cap="more", path="notes.txt") == "notes\n"
        for hostile in ({"self": 1}, {"arguments": 1}, {"cap": "notes", "self": "x", "path": "notes.txt"}, {"cap": "op", "path": "a"}):
            assert (await read.coroutine(**hostile)).startswith("refused")
        assert (await read.call("[" * 100_000)).startswith("refused")
        assert host.do("ran") == []


@needs_node
async def test_paths_that_models_write_are_taken_or_the_reply_says_what_to_write(host: HostProcess) -> None:
    async with entered(host, workspace=FOLDER) as (made, _s, _g, _i):
        plain = await made.call("entries", {"cap": "workspace"})
        for path in ("", ".", None, "./"):
            listed = await made.call("entries", {"cap": "workspace", "path": path})
            assert (listed.is_error, listed.text) == (False, plain.text), path
        found = await made.call("search", {"cap": "workspace", "text": "notes", "path": "", "glob": "*.txt"})
        assert not found.is_error and "notes.txt" in found.text
        # A directory that is not there: the reply names the call that makes it, and that call works.
        write = {"cap": "workspace", "path": "deep/er/c.txt", "text": "c"}
        refused = await made.call("write", write)
        assert refused.code == "NOT_FOUND"
        name, _, arguments = refused.text.partition("make the directory first: ")[2].partition(" ")
        assert name == "mkdir" and json.loads(arguments) == {"cap": "workspace", "path": "deep/er"}
        assert not (await made.call(name, arguments)).is_error
        assert not (await made.call("write", write)).is_error
        assert (host.root / "deep/er/c.txt").read_text() == "c"
        # The path as a shell has it: the reply names the one to write, and that one works.
        for absolute, relative in (("/workspace/notes.txt", "notes.txt"), ("/workspace/deep/er/c.txt", "deep/er/c.txt")):
            refused = await made.call("read", {"cap": "workspace", "path": absolute})
            assert refused.code == "PATH_ABSOLUTE" and f'write "path": "{relative}" for' in refused.text
            assert not (await made.call("read", {"cap": "workspace", "path": relative})).is_error
        refused = await made.call("entries", {"cap": "workspace", "path": "/workspace"})
        assert 'write "path": "." for what a shell calls "/workspace"' in refused.text
        # No advice leads out.
        for path in ("/workspace/../../etc/passwd", "/..", "../x"):
            refused = await made.call("read", {"cap": "workspace", "path": path})
            assert refused.is_error and 'write "path"' not in refused.text


@needs_node
async def test_a_warning_of_the_host_is_in_the_answer_as_text_and_as_data(host: HostProcess) -> None:
    again = (tools.verb("again", "Rings.", {"tone": {"type": "string"}}),)
    id_, secret = host.session()
    async with await hob.connect_granter(host.url, host.granter_secret) as granter:
        await granter.grant(id_, "bell", "bell", uses=9)
        await granter.grant(id_, "notes", "directory", uses=9)
    async with await hob.connect(host.url, secret) as session:
        made = await tools.of(session, {"bell": again})
        rung = await made.call("again", {"cap": "bell", "tone": "low"})
        assert rung == tools.Result("ding\nagain: true", warnings=("again: true",))
        failed = await made.call("again", {"cap": "bell", "tone": "high"})
        assert failed == tools.Result("failed (NOT_FOUND): no such tone\nagain: false", True, "NOT_FOUND", ("again: false",))
        message = await made.openai_result({"id": "c", "function": {"name": "again", "arguments": '{"cap":"bell","tone":"low"}'}})
        assert message["content"] == "ding\nagain: true"
        # Another call has no warning of this one.
        assert (await made.call("read", {"cap": "notes", "path": "notes.txt"})).warnings == ()


@needs_node
async def test_calls_of_a_model_reach_the_caps(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER, op=OP) as (made, _s, _g, _i):
        function = {"name": "read", "arguments": '{"cap": "notes", "path": "notes.txt"}'}
        assert await made.openai_result({"id": "1", "type": "function", "function": function}) == {
            "role": "tool",
            "tool_call_id": "1",
            "content": "notes\n",
        }
        block = {"type": "tool_use", "id": "2", "name": "write", "input": {"cap": "notes", "path": "x.txt", "text": "one two"}}
        assert "is_error" not in await made.anthropic_result(block)
        assert (await made.call("edit", {"cap": "notes", "path": "x.txt", "old": "one", "new": "1"})).is_error is False
        assert (host.root / "x.txt").read_text() == "1 two"
        assert "x.txt" in (await made.call("entries", {"cap": "notes", "path": None})).text.split("\n")
        assert "x.txt" in (await made.call("search", {"cap": "notes", "text": "1 two"})).text
        assert (await made.call("invoke", {"cap": "op", "args": "a"})).text == "ok"
        assert host.do("ran") == ["a"]


@needs_node
async def test_a_refusal_names_the_cap_to_ask_for(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER, once=("directory", {"scope": "once"})) as (made, _s, granter, id_):
        refusal = await made.call("read", {"cap": "deploy-key", "path": "a"})
        assert refusal.code == "no-such-object" and '"deploy-key"' in refusal.text and "notes, once" in refusal.text
        assert 'request {"cap": "deploy-key"' in refusal.text
        assert not (await made.call("read", {"cap": "once", "path": "notes.txt"})).is_error
        spent = await made.call("read", {"cap": "once", "path": "notes.txt"})
        assert spent.code == "exhausted" and 'request {"cap": "once"' in spent.text
        failed = await made.call("read", {"cap": "notes", "path": "../../etc/passwd"})
        assert failed.is_error and failed.code not in (None, "no-such-object") and str(host.folder) not in failed.text
        # A cap that was granted meanwhile is found.
        await granter.grant(id_, "more", "directory", uses=1)
        assert not (await made.call("read", {"cap": "more", "path": "notes.txt"})).is_error
        assert "more" in made.openai()[0]["function"]["parameters"]["properties"]["cap"]["enum"]
    async with entered(host, can_request=False, notes=FOLDER) as (made, _s, _g, _i):
        assert "Ask the person" in (await made.call("read", {"cap": "x", "path": "a"})).text
        assert (await made.call("request", {"cap": "x", "why": "y"})).code == "invalid"


HOSTILE: list[tuple[Any, Any]] = [
    ("Read", {"cap": "notes", "path": "notes.txt"}),
    ("terminal", {"command": "rm -rf /"}),
    ("__init__", {}),
    (None, {}),
    ("read", "not json"),
    ("read", "[" * 100_000),
    ("read", []),
    ("read", {}),
    ("read", {"cap": "notes"}),
    ("read", {"cap": ["notes"], "path": "a"}),
    ("read", {"cap": "notes ", "path": "notes.txt"}),
    ("read", {"cap": "Notes", "path": "notes.txt"}),
    ("read", {"cap": "note", "path": "notes.txt"}),
    ("read", {"cap": "__class__", "path": "notes.txt"}),
    ("read", {"cap": "notes", "path": {"@": "object", "n": 0}}),
    ("read", {"cap": "notes", "path": "notes.txt", "extra": 1}),
    ("read", {"cap": "notes", "path": "notes.txt", "line": 0}),
    ("read", {"cap": "notes", "path": "notes.txt", "line": True}),
    ("read", {"cap": "op", "path": "notes.txt"}),
    ("invoke", {"cap": "notes", "args": "a"}),
    ("invoke", {"cap": "op", "args": ["a"]}),
    ("read", {"cap": "x" * 100_000 + "\u202e\x1b[31m", "path": "a"}),
]


@needs_node
async def test_a_wrong_call_gets_a_text_and_has_no_effect(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER, op=OP) as (made, _s, _g, _i):
        for name, arguments in HOSTILE:
            result = await made.call(name, arguments)
            assert result.is_error, (name, arguments)
            assert len(result.text) < 1000 and result.text.isprintable()
        assert (await made.openai_result({})).keys() == {"role", "tool_call_id", "content"}
        assert (await made.anthropic_result({}))["is_error"] is True
        assert host.do("ran") == []


@needs_node
@settings(max_examples=60, deadline=None)
@given(st.text(max_size=30) | st.sampled_from(sorted(typos("op"))), st.sampled_from(["read", "invoke"]))
def test_only_the_exact_petname_reaches_a_cap(held: Any, petname: str, name: str) -> None:
    made, host, loop = held
    if petname in ("op", "op-b", "notes"):
        return
    result = loop(made.call(name, {"cap": petname, "args": "a"} if name == "invoke" else {"cap": petname, "path": "notes.txt"}))
    assert result.code in ("no-such-object", "invalid")
    assert host.do("ran") == []


@pytest.fixture(scope="module")
def held(host: HostProcess) -> Any:
    from hob.sync import _loop

    async def enter() -> Any:
        stack = contextlib.AsyncExitStack()
        made, *_ = await stack.enter_async_context(entered(host, notes=FOLDER, op=OP, **{"op-b": OP}))
        return stack, made

    stack, made = _loop.run(enter())
    yield made, host, _loop.run
    _loop.run(stack.aclose())


@needs_node
async def test_after_a_lost_connection_the_outcome_is_unknown(host: HostProcess) -> None:
    async with entered(host, notes=FOLDER) as (made, session, _g, _i):
        session.close()
        result = await made.call("read", {"cap": "notes", "path": "notes.txt"})
        assert result.code == "disconnected" and "look before you repeat" in result.text


def test_the_verb_that_lists_cannot_be_called_list() -> None:
    like: Any = lambda typo, name: difflib.SequenceMatcher(None, name, typo).ratio()  # noqa: E731
    # As Hermes measures it: with one letter mistyped, "edit" is as near to "list".
    assert like("elit", "list") == like("elit", "edit") == 0.75 > tools.CUTOFF
    # With a prefix of ours, the two names are too near even without a typo.
    assert like("hob_edit", "hob_list") == 0.75
    assert tools.too_close(["list", "edit"]) and tools.too_close(["hob_list", "hob_edit"])
    assert tools.too_close(["entries", "edit"]) is None


def test_verbs_that_could_be_mistaken_are_refused() -> None:
    session: Any = None
    for kinds in (
        {"x": (tools.verb("reads", "…"),)},
        {"x": (tools.verb("request", "…"),)},
        {"x": (tools.verb("read", "another"),)},
    ):
        with pytest.raises(hob.Invalid):
            tools.Tools(session, kinds, tools.DIRECTORY, True)
    for name in ("a b", "", "ü", "x" * 50):
        with pytest.raises(hob.Invalid):
            tools.verb(name, "…")
    with pytest.raises(hob.Invalid):
        tools.verb("invoke", "…", {"cap": {"type": "string"}})


def test_a_long_result_is_cut_and_says_so() -> None:
    assert tools.shown("x" * 60_000).endswith("10000 letters more")
    assert tools.shown(None) == tools.shown(hob.undefined) == "done"
    assert tools.shown(b"ab") == "2 bytes, base64: YWI="
    assert json.loads(tools.shown({"a": [1, b"x", hob.undefined]})) == {"a": [1, "eA==", "undefined"]}
