"""Tools for a model, made of the caps that a session holds.

    tools = await hob.tools.of(session)
    client.chat.completions.create(…, tools=tools.openai())
    message = await tools.openai_result(call)       # or anthropic_result(block)

A tool is a verb; which cap it is for is an argument, a petname. Promise: a name is taken as it is written or refused, here and in any loop that
repairs names by likeness (a typo of one letter in a verb never becomes another verb). A call reaches what the session holds under exactly
that petname, or nothing. A refusal says which cap to ask for. Whatever a model sends, the loop gets a text for it and no exception.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, Final

from .data import Undefined
from .errors import CapError, Disconnected, Invalid, UnknownOutcome
from .reference import E, Promise
from .sessions import Session

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing to do with a cap. `send` gets the cap and the checked arguments."""

    name: str
    description: str
    parameters: Mapping[str, Schema]
    send: Callable[[Any, dict[str, Any]], Promise] = field(compare=False)
    optional: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if not self.name.isascii() or not self.name.replace("_", "").isalnum() or len(self.name) > 48:
            raise Invalid(f'"{self.name}" is no name of a tool: letters, digits and _')
        if "cap" in self.parameters:
            raise Invalid('"cap" is the argument that says which cap')


Kind = Sequence[Verb]
_TEXT: Final = {"type": "string"}
_NUMBER: Final = {"type": "integer", "minimum": 1}
_PATH: Final = {"type": "string", "description": "relative to the cap's own directory"}


def verb(name: str, description: str, parameters: Mapping[str, Schema] | None = None, *, method: str | None = None) -> Verb:
    """A verb that calls `method` with the parameters in their order."""
    order = list(parameters or {})
    called = method or name
    return Verb(name, description, parameters or {}, lambda cap, args: E(cap)[called](*(args[each] for each in order)))


def _only(args: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """Options as a record, left out where there are none."""
    options = {name: args[name] for name in names if name in args}
    return [options] if options else []


def _edit(cap: Any, args: dict[str, Any]) -> Promise:
    sent: Promise = E(cap).edit(args["path"], [{"oldText": args["old"], "newText": args["new"]}])
    return sent


READ: Final = Verb(
    "read", "Reads a text file.", {"path": _PATH, "line": _NUMBER, "lines": _NUMBER},
    lambda cap, args: E(cap).readText(args["path"], *_only(args, "line", "lines")), frozenset({"line", "lines"}),
)  # fmt: skip
ENTRIES: Final = Verb(
    "entries", "Lists the names in a directory.", {"path": _PATH},
    lambda cap, args: E(cap).list(*([args["path"]] if "path" in args else [])), frozenset({"path"}),
)  # fmt: skip
SEARCH: Final = Verb(
    "search", "Finds a text in files.", {"text": _TEXT, "path": _PATH, "glob": _TEXT},
    lambda cap, args: E(cap).search(args["text"], *_only(args, "path", "glob")), frozenset({"path", "glob"}),
)  # fmt: skip
WRITE: Final = Verb(
    "write", "Writes a whole text file.", {"path": _PATH, "text": _TEXT}, lambda cap, args: E(cap).write(args["path"], args["text"])
)
EDIT: Final = Verb(
    "edit", "Replaces a text, which must be there once, in a file.", {"path": _PATH, "old": _TEXT, "new": _TEXT}, _edit
)
RUN: Final = verb("run", "Runs a command of the shell in a sandbox that holds what the cap mounts.", {"command": _TEXT})
LAUNCH: Final = verb(
    "launch", "Runs the cap's program with these arguments.", {"args": {"type": "array", "items": _TEXT}}, method="run"
)

READ_ONLY: Final[Kind] = (READ, ENTRIES, SEARCH)
DIRECTORY: Final[Kind] = (*READ_ONLY, WRITE, EDIT)
SHELL: Final[Kind] = (RUN,)
COMMAND: Final[Kind] = (LAUNCH,)

REQUEST: Final = "request"
LONGEST: Final = 50_000
"""Letters of a result that a model is shown."""


@dataclass(frozen=True, slots=True)
class Result:
    text: str
    is_error: bool = False
    code: str | None = None


class Tools:
    """Made by `of`."""

    def __init__(self, session: Session, kinds: Mapping[str, Kind], otherwise: Kind, can_request: bool) -> None:
        self._session = session
        self._kinds = dict(kinds)
        self._otherwise = otherwise
        self._can_request = can_request
        self._held: list[str] = []
        self._verbs: dict[str, Verb] = {}
        for each in {verb.name: verb for kind in (*kinds.values(), otherwise) for verb in kind}.values():
            self._verbs[each.name] = each
        for kind in (*kinds.values(), otherwise):
            for each in kind:
                if self._verbs[each.name] is not each:
                    raise Invalid(f'two verbs are called "{each.name}": a model could not tell them apart')
        names = [*self._verbs, *([REQUEST] if can_request else [])]
        if REQUEST in self._verbs:
            raise Invalid(f'"{REQUEST}" is how a model asks for more: give your verb another name')
        close = too_close(names)
        if close is not None:
            raise Invalid(f'a typo turns "{close[0]}" into "{close[1]}": give one of them a name that is further away')

    @property
    def names(self) -> list[str]:
        """The names that are offered now: of verbs that some held cap has."""
        offered = [name for name in self._verbs if self._petnames(name)]
        return [*offered, REQUEST] if self._can_request else offered

    async def look(self) -> Tools:
        """Looks again what the session holds: something may have been granted, or given up."""
        self._held = sorted(await self._session.caps())
        return self

    def _kind(self, petname: str) -> Kind:
        return self._kinds.get(petname, self._otherwise)

    def _petnames(self, name: str) -> list[str]:
        return [petname for petname in self._held if any(verb.name == name for verb in self._kind(petname))]

    # ---- what a model is offered --------------------------------------------------------------------------------------

    def _described(self) -> Iterable[tuple[str, str, dict[str, Any]]]:
        for name in self.names:
            if name == REQUEST:
                yield REQUEST, ASK, REQUEST_PARAMETERS
                continue
            verb = self._verbs[name]
            yield name, verb.description, parameters_of(verb, self._petnames(name))

    def openai(self) -> list[dict[str, Any]]:
        return [
            {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
            for name, description, schema in self._described()
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        return [
            {"name": name, "description": description, "input_schema": schema}
            for name, description, schema in self._described()
        ]

    # ---- what a model sends -------------------------------------------------------------------------------------------

    async def call(self, name: str, arguments: object) -> Result:
        """Does it. Never raises for what a model sent or a cap answered."""
        try:
            args = _arguments(arguments)
            if name == REQUEST and self._can_request:
                return await self._ask(_checked(args, _REQUEST, _REQUEST.keys() - {"cap", "why"}))
            verb = self._verbs.get(name) if isinstance(name, str) else None
            if verb is None:
                raise Invalid(f"there is no such tool: there are {', '.join(self.names) or 'none'}")
            petname = args.get("cap")
            if not isinstance(petname, str):
                raise Invalid(f'say in "cap" which of your caps: {self._list_held(name)}')
            if petname not in self._held:
                # It may have been granted since.
                await self.look()
            if petname not in self._held:
                return self._missing(petname, name)
            if all(each.name != name for each in self._kind(petname)):
                raise Invalid(f'"{petname}" cannot do that: {name} is for {self._list_held(name)}')
            rest = {each: value for each, value in args.items() if each != "cap"}
            given = _checked(rest, verb.parameters, verb.optional)
        except CapError as error:
            return Result(f"refused ({error.code}): {error.message}", True, error.code)
        try:
            return Result(shown(await verb.send(self._session[petname], given)))
        except CapError as error:
            return self._failed(petname, error)

    async def _ask(self, args: dict[str, Any]) -> Result:
        terms: dict[str, Any] = {each: args[each] for each in ("uses", "seconds") if each in args}
        try:
            await self._session.request(args["cap"], args["why"], **terms)
        except CapError as error:
            return Result(f"refused ({error.code}): {error.message}", True, error.code)
        await self.look()
        return Result(f"granted. You hold: {', '.join(self._held)}")

    def _list_held(self, name: str) -> str:
        return ", ".join(self._petnames(name)) or "nothing that you hold"

    def _missing(self, petname: str, name: str) -> Result:
        held = ", ".join(self._held) or "nothing"
        text = f"refused (no-such-object): you hold no {_quoted(petname)}. You hold: {held}. {self._how_to_ask(petname)}"
        return Result(text, True, "no-such-object")

    def _failed(self, petname: str, error: CapError) -> Result:
        code = error.code
        if isinstance(error, (Disconnected, UnknownOutcome)):
            return Result(f"unknown ({code}): it may have happened or not, look before you repeat it", True, code)
        if code in _ENDED:
            return Result(f"refused ({code}): {error.message}. {self._how_to_ask(petname)}", True, code)
        if code in _OUTSIDE:
            outside = f"{_quoted(petname)} ends at its own directory, and paths are relative to it"
            return Result(f'failed ({code}): {error.message}: {outside}. {self._how_to_ask("…")} names a cap of another one', True, code)
        return Result(f"failed ({code}): {error.message}", True, code)

    def _how_to_ask(self, petname: str) -> str:
        if self._can_request:
            return f'Ask for it: {REQUEST} {{"cap": {_quoted(petname)}, "why": "…"}}'
        return f"Ask the person you work for to grant {_quoted(petname)}"

    async def openai_result(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """The message that answers one of `tool_calls`."""
        function = call.get("function", {})
        result = await self.call(function.get("name", ""), function.get("arguments", "{}"))
        return {"role": "tool", "tool_call_id": call.get("id", ""), "content": result.text}

    async def anthropic_result(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """The block that answers a `tool_use`."""
        result = await self.call(block.get("name", ""), block.get("input", {}))
        made: dict[str, Any] = {"type": "tool_result", "tool_use_id": block.get("id", ""), "content": result.text}
        return {**made, "is_error": True} if result.is_error else made


_OUTSIDE: Final = frozenset({"PATH_ESCAPES", "PATH_ABSOLUTE"})
_ENDED: Final = frozenset({"revoked", "expired", "exhausted", "denied", "no-such-object"})
ASK: Final = "Asks a person for a cap that you do not hold, or for more of one. Waits for the answer."
_REQUEST: Final[Mapping[str, Schema]] = {
    "cap": {"type": "string", "description": "its name"},
    "why": {"type": "string", "description": "shown to the person, as your words"},
    "uses": _NUMBER,
    "seconds": _NUMBER,
}
REQUEST_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object", "properties": dict(_REQUEST), "required": ["cap", "why"], "additionalProperties": False,
}  # fmt: skip


def parameters_of(verb: Verb, petnames: Sequence[str] | None = None) -> dict[str, Any]:
    """The JSON schema of a verb's arguments, for these caps; for any, where they are not known yet."""
    cap = {"type": "string", "description": "which of your caps", **({} if petnames is None else {"enum": list(petnames)})}
    required = ["cap", *(each for each in verb.parameters if each not in verb.optional)]
    properties = {"cap": cap, **{each: dict(schema) for each, schema in verb.parameters.items()}}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


async def of(
    session: Session, kinds: Mapping[str, Kind] | None = None, *, otherwise: Kind = DIRECTORY, can_request: bool = True
) -> Tools:
    """`kinds` says what a petname can do, where that is not `otherwise`: `{"sh": SHELL, "deploy": (verb("invoke", …),)}`."""
    return await Tools(session, kinds or {}, otherwise, can_request).look()


# ---- names -----------------------------------------------------------------------------------------------------------------

CUTOFF: Final = 0.7
"""Likeness from which Hermes takes an unknown name for an offered one (`difflib`)."""


def too_close(names: Sequence[str]) -> tuple[str, str] | None:
    """
    Two names of which one, as it is or with a typo of one letter, may be taken for the other, if there are any. Also where only the other one is
    offered: whose cap was revoked must not become another one's.
    """
    plain = [_plain(name) for name in names]
    for at, a in enumerate(plain):
        for other in range(at + 1, len(plain)):
            if _mistaken(a, plain[other]) or _mistaken(plain[other], a):
                return names[at], names[other]
    return None


@lru_cache(4096)
def _mistaken(a: str, b: str) -> bool:
    """Whether `a`, or some typo in it, is taken for `b`."""
    if a == b:
        return True
    # Most names are so far apart that no typo needs to be tried.
    if _reach(a, b) < CUTOFF:
        return False
    return any(SequenceMatcher(None, b, typo).ratio() >= CUTOFF for typo in (a, *_typos(a, {*b, "-"})))


def _typos(name: str, letters: Iterable[str]) -> Iterator[str]:
    """With one letter changed, left out, put in, or two swapped. Letters that the other name has not are all alike."""
    for at in range(len(name) + 1):
        before, after = name[:at], name[at:]
        yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
        for letter in letters:
            yield before + letter + after
            yield before + letter + after[1:]


def _plain(name: str) -> str:
    """What such repair does not tell apart: case, - and _, and the word "tool" at the end."""
    return name.lower().replace("-", "_").removesuffix("_tool")


def _reach(a: str, b: str) -> float:
    """How like the other a name can be at most, with one letter of it changed, left out, put in or swapped."""
    common = _common(a, b)
    kept = max(len(a) + len(b), 1)
    return max(2 * (common + 1) / kept, 2 * common / max(kept - 1, 1))


def _common(a: str, b: str) -> int:
    """Letters of the longest common subsequence: difflib finds no more."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for at, y in enumerate(b):
            before, row[at + 1] = row[at + 1], before + 1 if x == y else max(row[at + 1], row[at])
    return row[-1]


# ---- arguments and results ---------------------------------------------------------------------------------------------------

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _arguments(given: object) -> dict[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            raise Invalid("the arguments are not JSON") from None
    if not isinstance(given, dict):
        raise Invalid("the arguments are a record")
    return given


def _checked(args: dict[str, Any], parameters: Mapping[str, Schema], optional: Iterable[str]) -> dict[str, Any]:
    lacking = parameters.keys() - args.keys() - set(optional)
    if lacking:
        raise Invalid(f"an argument is missing: {', '.join(sorted(lacking))}")
    checked: dict[str, Any] = {}
    for name, value in args.items():
        schema = parameters.get(name)
        if schema is None:
            raise Invalid(f"there is no argument {_quoted(name)}: there are {', '.join(['cap', *parameters])}")
        # Models say null for what they leave out.
        if value is None and name in optional:
            continue
        _check(name, value, schema)
        checked[name] = value
    return checked


def _check(name: str, value: Any, schema: Schema) -> None:
    kind = schema.get("type")
    if kind is not None and not _TYPES[kind](value):
        raise Invalid(f'"{name}" is not of the type {kind}')
    if "enum" in schema and value not in schema["enum"]:
        raise Invalid(f'"{name}" is one of {", ".join(map(str, schema["enum"]))}')
    if "minimum" in schema and value < schema["minimum"]:
        raise Invalid(f'"{name}" is {schema["minimum"]} or more')
    if kind == "array" and "items" in schema:
        for item in value:
            _check(name, item, schema["items"])


def _quoted(text: str) -> str:
    """As JSON, cut, in ASCII: what a model wrote comes back marked as one word."""
    return json.dumps(text[:80])


def shown(value: object) -> str:
    """A result as a model is shown it."""
    if value is None or isinstance(value, Undefined):
        text = "done"
    elif isinstance(value, str):
        text = value
    elif isinstance(value, bytes):
        text = f"{len(value)} bytes, base64: {base64.b64encode(value[:LONGEST]).decode()}"
    elif isinstance(value, list) and all(isinstance(item, str) for item in value):
        text = "\n".join(value) or "nothing"
    else:
        text = json.dumps(value, default=_word, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST} letters more"


def _word(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return "undefined" if isinstance(value, Undefined) else f"<{type(value).__name__}>"
