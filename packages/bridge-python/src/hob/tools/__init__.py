"""Tools for a model, made of the caps that a session holds.

    tools = await hob.tools.of(session)
    client.chat.completions.create(…, tools=tools.openai())
    message = await tools.openai_result(call)       # or anthropic_result(block)

For a loop that calls functions by itself: `tools.functions()`.

A tool is a verb. Its argument `cap` is a petname, which says which cap to use.

Promise: a name is taken as it is written, or refused, here and in any loop that repairs names by likeness: a
typo of one letter in a verb never becomes another verb. A call reaches the cap that the session holds under
exactly that petname, or none. A refusal says which cap to ask for. For any input of a model, the loop gets a
text and no exception.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol
from uuid import uuid4

from ..data import Undefined
from ..errors import CapError, Disconnected, Invalid, UnknownOutcome
from ..message import Message, Target
from ..reference import E, Ref
from ..sessions import Session
from .likeness import CUTOFF, too_close
from .verbs import (
    COMMAND,
    DIRECTORY,
    EDIT,
    ENTRIES,
    LAUNCH,
    MKDIR,
    NUMBER,
    READ,
    READ_ONLY,
    RUN,
    SEARCH,
    SHELL,
    WRITE,
    Kind,
    Schema,
    Verb,
    arguments_from,
    checked,
    parameters_of,
    quoted,
    verb,
)

__all__ = [
    "COMMAND", "CUTOFF", "DIRECTORY", "EDIT", "ENTRIES", "LAUNCH", "MKDIR", "READ", "READ_ONLY", "RUN", "SEARCH", "SHELL", "WRITE",
    "Function", "Kind", "REQUEST", "Result", "Schema", "Tools", "Verb", "of", "parameters_of", "shown", "too_close", "verb",
]  # fmt: skip

REQUEST: Final = "request"
LONGEST: Final = 50_000
"""Maximum letters of a result that a model gets."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool returned, as a text for the model."""

    text: str
    is_error: bool = False
    code: str | None = None
    warnings: tuple[str, ...] = ()
    """Warnings of the host, for example that calls go round in circles. The text has them, too."""


@dataclass(frozen=True, slots=True)
class Function:
    """One of the tools as a function, for a loop that calls functions by itself."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema. Hob checks the arguments, whatever the loop checks."""
    _tools: Tools

    async def call(self, arguments: object) -> str:
        """Makes the call with these arguments, a record or JSON, and returns the text for the model. Never
        raises, and waits for a person where the cap does."""
        return (await self._tools.call(self.name, arguments)).text

    async def coroutine(self, /, **arguments: Any) -> str:
        """The same, for a loop that passes each argument by its name."""
        return await self.call(arguments)


class _Noted(Target):
    """A held cap. Messages to it are calls of the session, which says how they ended and what the host says about
    them."""

    __slots__ = ("_petname", "_session", "_warnings")

    def __init__(self, session: Session, petname: str) -> None:
        self._session = session
        self._petname = petname
        self._warnings: list[str] = []

    def post(self, message: Message) -> None:
        sent = {"call": uuid4().hex, "cap": self._petname, "method": message.method, "args": message.args, "noted": True}
        E(self._session.root).call(sent)._target.watch(lambda ended: self._ended(message, ended), message.fail)

    def _ended(self, message: Message, ended: Any) -> None:
        self._warnings += ended["warnings"]
        if message.answer is None:
            return
        if ended["ok"]:
            message.answer.fulfil(ended.get("value"))
        else:
            message.answer.break_(ended["error"])

    def warned(self, result: Result) -> Result:
        """Most loops show their model only the text, so it has the warnings, too."""
        if not self._warnings:
            return result
        return replace(result, text="\n".join([result.text, *self._warnings]), warnings=tuple(self._warnings))


class Model(Protocol):
    """An object of an SDK: those of OpenAI and Anthropic are models of pydantic."""

    def model_dump(self) -> dict[str, Any]:
        """Returns its parts as a record."""
        ...


def _record(given: Mapping[str, Any] | Model) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else given.model_dump()


class Tools:
    """The tools of one session. Made by `of`."""

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
            own = {verb.name for kind in kinds.values() for verb in kind} | {REQUEST}
            less = "" if own.issuperset(close) else ", or leave out the verbs of all caps that you did not name: otherwise=()"
            raise Invalid(f'a typo turns "{close[0]}" into "{close[1]}": give one of them a name that is further away{less}')

    @property
    def names(self) -> list[str]:
        """The names offered now: the verbs of the held caps."""
        offered = [name for name in self._verbs if self._petnames(name)]
        return [*offered, REQUEST] if self._can_request else offered

    async def look(self) -> Tools:
        """Reads again which caps the session holds. One may have been granted or revoked since."""
        self._held = sorted(await self._session.caps())
        return self

    def _kind(self, petname: str) -> Kind:
        return self._kinds.get(petname, self._otherwise)

    def _petnames(self, name: str) -> list[str]:
        return [petname for petname in self._held if any(verb.name == name for verb in self._kind(petname))]

    # ---- what a model is offered ---------------------------------------------------------------------------

    def _described(self, *, loose: bool = False) -> Iterable[tuple[str, str, dict[str, Any]]]:
        for name in self.names:
            if name == REQUEST:
                yield REQUEST, ASK, REQUEST_PARAMETERS
                continue
            verb = self._verbs[name]
            yield name, verb.description, parameters_of(verb, self._petnames(name), loose=loose)

    def functions(self) -> list[Function]:
        """Returns the tools as functions. Such a list is made once for a run: a cap that is granted later can be
        used at once if one that is held has its verbs."""
        return [Function(*described, self) for described in self._described(loose=True)]

    def openai(self) -> list[dict[str, Any]]:
        """Returns the tools in the shape of the OpenAI API."""
        return [
            {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
            for name, description, schema in self._described()
        ]

    def anthropic(self) -> list[dict[str, Any]]:
        """Returns the tools in the shape of the Anthropic API."""
        return [
            {"name": name, "description": description, "input_schema": schema}
            for name, description, schema in self._described()
        ]

    # ---- what a model sends --------------------------------------------------------------------------------

    async def call(self, name: str, arguments: object) -> Result:
        """Makes the call. Never raises, whatever a model sent or a cap returned."""
        try:
            args = arguments_from(arguments)
            if name == REQUEST and self._can_request:
                return await self._ask(checked(args, _REQUEST, _REQUEST.keys() - {"cap", "why"}))
            verb = self._verbs.get(name) if isinstance(name, str) else None
            if verb is None:
                raise Invalid(f"there is no such tool: there are {', '.join(self.names) or 'none'}")
            petname = args.get("cap")
            if not isinstance(petname, str):
                raise Invalid(f'say in "cap" which of your caps: {self._list_held(name)}')
            if petname not in self._held:
                # The cap may have been granted since.
                await self.look()
            if petname not in self._held:
                return self._missing(petname, name)
            if all(each.name != name for each in self._kind(petname)):
                raise Invalid(f'"{petname}" has no {name}: use {self._list_held(name)}')
            rest = {each: value for each, value in args.items() if each != "cap"}
            given = checked(rest, verb.parameters, verb.optional)
        except CapError as error:
            return Result(f"refused ({error.code}): {error.message}", True, error.code)
        sent = _Noted(self._session, petname)
        try:
            result = Result(shown(await verb.send(Ref(sent), given)))
        except CapError as error:
            result = self._failed(petname, error, name, given)
        return sent.warned(result)

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
        text = f"refused (no-such-object): you hold no {quoted(petname)}. You hold: {held}. {self._how_to_ask(petname)}"
        return Result(text, True, "no-such-object")

    def _failed(self, petname: str, error: CapError, verb: str, args: Mapping[str, Any]) -> Result:
        code = error.code
        if isinstance(error, (Disconnected, UnknownOutcome)):
            return Result(f"unknown ({code}): it may have happened or not, look before you repeat it", True, code)
        if code in _ENDED:
            return Result(f"refused ({code}): {error.message}. {self._how_to_ask(petname)}", True, code)
        path = args.get("path")
        if code == "PATH_ABSOLUTE" and isinstance(path, str) and _as_in_a_shell(path) is not None:
            # Only advice: the model names the path that it means, and the cap judges that.
            how = f'write "path": {quoted(_as_in_a_shell(path) or ".")} for what a shell calls {quoted(path)}'
            return Result(f"failed ({code}): {error.message}: {how}, if {quoted(petname)} is mounted there", True, code)
        makes = any(each.name == MKDIR.name for each in self._kind(petname))
        if code == "NOT_FOUND" and verb == WRITE.name and makes and isinstance(path, str) and "/" in path:
            above = quoted(path.rpartition("/")[0])
            how = f'make the directory first: {MKDIR.name} {{"cap": {quoted(petname)}, "path": {above}}}'
            return Result(f"failed ({code}): {error.message}. To write there, {how}", True, code)
        if code in _OUTSIDE:
            outside = f"{quoted(petname)} ends at its own directory, and paths are relative to it"
            how = f'{self._how_to_ask("…")} names a cap of another one'
            return Result(f"failed ({code}): {error.message}: {outside}. {how}", True, code)
        return Result(f"failed ({code}): {error.message}", True, code)

    def _how_to_ask(self, petname: str) -> str:
        if self._can_request:
            return f'Ask for it: {REQUEST} {{"cap": {quoted(petname)}, "why": "…"}}'
        return f"Ask the person you work for to grant {quoted(petname)}"

    async def openai_result(self, call: Mapping[str, Any] | Model) -> dict[str, Any]:
        """Returns the message for one of `tool_calls`, which may be an object of the SDK."""
        given = _record(call)
        function = given.get("function", {})
        result = await self.call(function.get("name", ""), function.get("arguments", "{}"))
        return {"role": "tool", "tool_call_id": given.get("id", ""), "content": result.text}

    async def anthropic_result(self, block: Mapping[str, Any] | Model) -> dict[str, Any]:
        """Returns the block for a `tool_use`, which may be an object of the SDK."""
        given = _record(block)
        result = await self.call(given.get("name", ""), given.get("input", {}))
        made: dict[str, Any] = {"type": "tool_result", "tool_use_id": given.get("id", ""), "content": result.text}
        return {**made, "is_error": True} if result.is_error else made


def _as_in_a_shell(path: str) -> str | None:
    """Returns the path below the first directory of an absolute path, as a shell has it: `/workspace/x`."""
    names = path.strip("/").split("/")
    return "/".join(names[1:]) if path.startswith("/") and names[0] and ".." not in names else None


_OUTSIDE: Final = frozenset({"PATH_ESCAPES", "PATH_ABSOLUTE"})
_ENDED: Final = frozenset({"revoked", "expired", "exhausted", "denied", "no-such-object"})
ASK: Final = "Asks a person for a cap that you do not hold, or for more of one. Waits for the answer."
_REQUEST: Final[Mapping[str, Schema]] = {
    "cap": {"type": "string", "description": "its name"},
    "why": {"type": "string", "description": "shown to the person, as your words"},
    "uses": NUMBER,
    "seconds": NUMBER,
}
REQUEST_PARAMETERS: Final[dict[str, Any]] = {
    "type": "object", "properties": dict(_REQUEST), "required": ["cap", "why"], "additionalProperties": False,
}  # fmt: skip


async def of(
    session: Session, kinds: Mapping[str, Kind] | None = None, *, otherwise: Kind = DIRECTORY, can_request: bool = True
) -> Tools:
    """Returns the tools for the caps of a session.

    `kinds` names the verbs of a petname: `{"sh": SHELL, "deploy": (verb("invoke", …),)}`. Any other petname
    has `otherwise`.
    """
    return await Tools(session, kinds or {}, otherwise, can_request).look()


def shown(value: object) -> str:
    """Returns a result as text for a model."""
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
