"""Verbs: what a model can do with a cap, and how its arguments are checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import Invalid
from ..reference import E, Promise

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
            raise Invalid(f'"{self.name}" cannot be the name of a tool: use letters, digits and _')
        if "cap" in self.parameters:
            raise Invalid('"cap" is taken: it is the argument that says which cap to use')


Kind = Sequence[Verb]
TEXT: Final = {"type": "string"}
NUMBER: Final = {"type": "integer", "minimum": 1}
_PATH: Final = {"type": "string", "description": "relative to the cap's own directory"}


def verb(
    name: str, description: str, parameters: Mapping[str, Schema] | None = None, *, method: str | None = None
) -> Verb:
    """Returns a verb that calls `method` with the parameters in their order."""
    order = list(parameters or {})
    called = method or name
    return Verb(name, description, parameters or {}, lambda cap, args: E(cap)[called](*(args[each] for each in order)))


def _only(args: dict[str, Any], *names: str) -> list[dict[str, Any]]:
    """Returns the given options as one record, and nothing if none is given."""
    options = {name: args[name] for name in names if name in args}
    return [options] if options else []


def _below(args: dict[str, Any]) -> list[str]:
    """Returns the directory, and nothing for the cap's own one: models write that as an empty path, too."""
    return [args["path"]] if args.get("path") else []


def _edit(cap: Any, args: dict[str, Any]) -> Promise:
    sent: Promise = E(cap).edit(args["path"], [{"oldText": args["old"], "newText": args["new"]}])
    return sent


READ: Final = Verb(
    "read", "Reads a text file.", {"path": _PATH, "line": NUMBER, "lines": NUMBER},
    lambda cap, args: E(cap).readText(args["path"], *_only(args, "line", "lines")), frozenset({"line", "lines"}),
)  # fmt: skip
ENTRIES: Final = Verb(
    "entries", "Lists the names in a directory.", {"path": _PATH},
    lambda cap, args: E(cap).list(*_below(args)), frozenset({"path"}),
)  # fmt: skip
SEARCH: Final = Verb(
    "search", "Finds a text in files.", {"text": TEXT, "path": _PATH, "glob": TEXT},
    lambda cap, args: E(cap).search(args["text"], *_only(args, *(["path"] if _below(args) else []), "glob")),
    frozenset({"path", "glob"}),
)  # fmt: skip
WRITE: Final = Verb(
    "write", "Writes a whole text file.", {"path": _PATH, "text": TEXT},
    lambda cap, args: E(cap).write(args["path"], args["text"]),
)  # fmt: skip
EDIT: Final = Verb(
    "edit", "Replaces a text, which must be there once, in a file.", {"path": _PATH, "old": TEXT, "new": TEXT}, _edit
)
MKDIR: Final = Verb(
    "mkdir", "Makes a directory, and those above it.", {"path": _PATH},
    lambda cap, args: E(cap).mkdir(args["path"], {"recursive": True}),
)  # fmt: skip
RUN: Final = verb("run", "Runs a command of the shell in a sandbox that holds what the cap mounts.", {"command": TEXT})
LAUNCH: Final = verb(
    "launch", "Runs the cap's program with these arguments.", {"args": {"type": "array", "items": TEXT}}, method="run"
)

READ_ONLY: Final[Kind] = (READ, ENTRIES, SEARCH)
DIRECTORY: Final[Kind] = (*READ_ONLY, WRITE, EDIT, MKDIR)
SHELL: Final[Kind] = (RUN,)
COMMAND: Final[Kind] = (LAUNCH,)


def parameters_of(verb: Verb, petnames: Sequence[str] | None = None, *, loose: bool = False) -> dict[str, Any]:
    """Returns the JSON schema of a verb's arguments. `petnames`: the caps that have the verb, if they are known.
    `loose` names them in words alone. So a loop that checks arguments by itself lets a call for another cap
    reach us, and its model reads which cap to ask for."""
    names = list(petnames or [])
    which = f"which of your caps: {', '.join(names)}" if loose and names else "which of your caps"
    cap = {"type": "string", "description": which, **({} if loose or petnames is None else {"enum": names})}
    required = ["cap", *(each for each in verb.parameters if each not in verb.optional)]
    properties = {"cap": cap, **{each: dict(schema) for each, schema in verb.parameters.items()}}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


# ---- arguments that a model sent ---------------------------------------------------------------------------

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def arguments_from(given: object) -> dict[str, Any]:
    """Reads arguments, as a record or as JSON. Raises `Invalid`."""
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            raise Invalid("the arguments are not JSON") from None
    if not isinstance(given, dict):
        raise Invalid("the arguments are a record")
    return given


def checked(args: dict[str, Any], parameters: Mapping[str, Schema], optional: Iterable[str]) -> dict[str, Any]:
    """Returns the arguments that fit their schemas. Raises `Invalid`."""
    lacking = parameters.keys() - args.keys() - set(optional)
    if lacking:
        raise Invalid(f"an argument is missing: {', '.join(sorted(lacking))}")
    fitting: dict[str, Any] = {}
    for name, value in args.items():
        schema = parameters.get(name)
        if schema is None:
            raise Invalid(f"there is no argument {quoted(name)}: there are {', '.join(['cap', *parameters])}")
        # Models send null for an argument that they leave out.
        if value is None and name in optional:
            continue
        _check(name, value, schema)
        fitting[name] = value
    return fitting


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


def quoted(text: str) -> str:
    """Returns the text as JSON, cut and in ASCII. So text of a model comes back to it marked as one word."""
    return json.dumps(text[:80])
