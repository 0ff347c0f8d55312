"""Values of the wire as values of Python types, and back.

Promise: a method gets arguments of the types that its hints name, or the call is refused with `Invalid` and the
method does not run. A hint that cannot be checked is refused when the object is offered.
"""

from __future__ import annotations

import dataclasses
import enum
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final, Literal, Union

from ..data import BigInt, Symbol, Undefined
from ..errors import Invalid
from ..message import Addressed
from ..reference import Promise, Ref

Convert = Callable[[Any], Any]
Schema = dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """Reads values of one hint, and has its JSON schema for a model."""

    convert: Convert
    schema: Schema


class Unfit(Exception):
    """The value does not fit. Its text says what would."""


def reading_of(hint: Any) -> Reading:
    """Returns the reading of a type hint. Raises `Invalid` if values of it cannot be checked."""
    plain = _PLAIN.get(hint) if isinstance(hint, typing.Hashable) else None
    if plain is not None:
        return plain
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        inner = reading_of(args[0])
        text = next((each for each in args[1:] if isinstance(each, str)), None)
        return inner if text is None else Reading(inner.convert, {**inner.schema, "description": text})
    if origin is Literal:
        return _literal(args)
    if origin in (Union, types.UnionType):
        return _union([reading_of(each) for each in args])
    if origin in (list, Sequence) or hint is list:
        return _list(reading_of(args[0]) if args else _ANY)
    if origin in (dict, Mapping) or hint is dict:
        return _dict(reading_of(args[1]) if args else _ANY)
    if typing.is_typeddict(hint):
        required: frozenset[str] = getattr(hint, "__required_keys__")
        return _record({name: (reading_of(of), name in required) for name, of in _hints(hint).items()}, dict)
    if isinstance(hint, type):
        return _of_class(hint)
    raise Invalid(f"values of the type {hint!r} cannot be checked: use data types, a dataclass, a TypedDict or a pydantic model")


def _of_class(hint: type) -> Reading:
    if issubclass(hint, enum.Enum):
        named = _literal([each.value for each in hint])
        return Reading(lambda value: hint(named.convert(value)), named.schema)
    if issubclass(hint, (Ref, Promise, Addressed)):
        return Reading(_a((Ref, Promise, Addressed), "a reference"), {})
    if dataclasses.is_dataclass(hint):
        missing = dataclasses.MISSING
        fields = {
            each.name: (reading_of(_hints(hint)[each.name]), each.default is missing and each.default_factory is missing)
            for each in dataclasses.fields(hint)
            if each.init
        }
        return _record(fields, lambda values: hint(**values))
    if _is_model(hint):
        return Reading(lambda value: _modelled(hint, value), hint.model_json_schema())  # type: ignore[attr-defined]
    raise Invalid(f"values of the class {hint.__name__} cannot be checked: use data types, a dataclass, a TypedDict or a pydantic model")


def _hints(of: Any) -> dict[str, Any]:
    return typing.get_type_hints(of, include_extras=True)


def _is_model(hint: type) -> bool:
    # A program with such a class has imported pydantic.
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(hint, pydantic.BaseModel)


def _modelled(model: Any, value: Any) -> Any:
    try:
        return model.model_validate(value)
    except ValueError as error:
        # Only places and rules: the text of pydantic repeats the values.
        errors = getattr(error, "errors", None)
        found = [] if errors is None else errors(include_input=False, include_url=False)
        wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:5])
        raise Unfit(f"a record that fits ({wrong})") from None


def _a(kind: type | tuple[type, ...], what: str) -> Convert:
    def convert(value: Any) -> Any:
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        raise Unfit(what)

    return convert


def _float(value: Any) -> float:
    # JavaScript sends 1200 for 1200.0.
    return float(_a((int, float), "a number")(value))


def _time(kind: type[date]) -> Convert:
    def convert(value: Any) -> date:
        try:
            return kind.fromisoformat(_a(str, "a time")(value))
        except ValueError:
            raise Unfit("a time in the form of ISO 8601") from None

    return convert


def _none(value: Any) -> None:
    if value is not None and not isinstance(value, Undefined):
        raise Unfit("nothing")


_ANY: Final = Reading(lambda value: value, {})
_PLAIN: Final[Mapping[Any, Reading]] = {
    Any: _ANY,
    object: _ANY,
    str: Reading(_a(str, "a text"), {"type": "string"}),
    int: Reading(_a(int, "a whole number"), {"type": "integer"}),
    float: Reading(_float, {"type": "number"}),
    bool: Reading(_a(bool, "true or false"), {"type": "boolean"}),
    bytes: Reading(_a(bytes, "bytes"), {}),
    datetime: Reading(_time(datetime), {"type": "string", "format": "date-time"}),
    date: Reading(_time(date), {"type": "string", "format": "date"}),
    None: Reading(_none, {"type": "null"}),
    type(None): Reading(_none, {"type": "null"}),
}


def _literal(choices: Sequence[Any]) -> Reading:
    def convert(value: Any) -> Any:
        for choice in choices:
            if type(choice) is type(value) and choice == value:
                return choice
        raise Unfit(f"one of {', '.join(map(repr, choices))}")

    kind = {"type": "string"} if all(isinstance(each, str) for each in choices) else {}
    return Reading(convert, {**kind, "enum": list(choices)})


def _union(readings: Sequence[Reading]) -> Reading:
    def convert(value: Any) -> Any:
        said: list[str] = []
        for each in readings:
            try:
                return each.convert(value)
            except Unfit as error:
                said.append(str(error))
        raise Unfit(" or ".join(said))

    others = [each.schema for each in readings if each.schema != {"type": "null"}]
    return Reading(convert, others[0] if len(others) == 1 else {"anyOf": others})


def _list(item: Reading) -> Reading:
    def convert(value: Any) -> list[Any]:
        return [item.convert(each) for each in _a(list, "a list")(value)]

    return Reading(convert, {"type": "array", **({"items": item.schema} if item.schema else {})})


def _dict(item: Reading) -> Reading:
    def convert(value: Any) -> dict[str, Any]:
        return {key: item.convert(each) for key, each in _a(dict, "a record")(value).items()}

    return Reading(convert, {"type": "object"})


def _record(fields: Mapping[str, tuple[Reading, bool]], make: Callable[[dict[str, Any]], Any]) -> Reading:
    def convert(value: Any) -> Any:
        return make(read_fields(_a(dict, "a record")(value), fields))

    properties = {name: reading.schema for name, (reading, _) in fields.items()}
    needed = [name for name, (_, required) in fields.items() if required]
    return Reading(convert, {"type": "object", "properties": properties, "required": needed})


def read_fields(given: Mapping[str, Any], fields: Mapping[str, tuple[Reading, bool]]) -> dict[str, Any]:
    """Returns the values of named fields. Raises `Unfit` for one that is missing, wrong or not known."""
    for name in given:
        if name not in fields:
            raise Unfit(f"nothing called {name[:64]!r}: there are {', '.join(fields) or 'none'}")
    found: dict[str, Any] = {}
    for name, (reading, required) in fields.items():
        if name not in given or isinstance(given[name], Undefined):
            if required:
                raise Unfit(f"a value for {name!r}")
            continue
        try:
            found[name] = reading.convert(given[name])
        except Unfit as error:
            raise Unfit(f"{error} for {name!r}") from None
    return found


def outward(value: Any) -> Any:
    """Returns a result as data: records for dataclasses and models, texts for times, values for members of enums."""
    if value is None or isinstance(value, (str, bool, int, float, bytes, Addressed, Promise, BigInt, Symbol, Undefined)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return outward(value.value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): outward(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [outward(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: outward(getattr(value, each.name)) for each in dataclasses.fields(value)}
    if _is_model(type(value)):
        return getattr(value, "model_dump")(mode="json")
    return value
