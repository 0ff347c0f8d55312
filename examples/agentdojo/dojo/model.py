"""A reference model of the terms: it decides every call of a session from the same grants as the host, and shares no
code with it. The run compares its word with what the real host did, call by call.

    allowed     the call reaches the tool
    denied      an argument is outside the bounds of the grant
    exhausted   the uses of the grant are spent
    asked       the call waits for a person
    no-method   the grant does not have this method
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final

Bound = Mapping[str, Any]
_HIDDEN: Final = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")


@dataclass(frozen=True)
class Grant:
    """A grant as a person would write it. `None` for methods and uses: all, and without end."""

    petname: str
    methods: tuple[str, ...]
    where: Mapping[str, Mapping[str, Bound]] = field(default_factory=dict)
    uses: int | None = None
    gated: tuple[str, ...] = ()
    own: bool = False

    def terms(self) -> dict[str, Any]:
        """Returns the terms for `granter.grant`."""
        said: dict[str, Any] = {"methods": list(self.methods), "scope": "session"}
        if self.where:
            said["where"] = {method: dict(bounds) for method, bounds in self.where.items()}
        if self.uses is not None:
            del said["scope"]
            said["uses"] = self.uses
        if self.gated:
            said["gated"] = list(self.gated)
        if self.own:
            said["own"] = True
        return said


class Account:
    """A grant with what is left of it."""

    def __init__(
        self, grant: Grant, names: Mapping[str, Mapping[str, str]], makes: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.grant = grant
        self.left = grant.uses
        self.made: set[tuple[str, Any]] = set()
        self._names = names
        self._makes = makes

    def decide(self, method: str, arguments: Mapping[str, Any]) -> str:
        """Says what must happen, and counts."""
        if self.left == 0:
            return "exhausted"
        if method not in self.grant.methods:
            return "no-method"
        bounds = self.grant.where.get(method)
        if bounds is not None and not within_fields(bounds, arguments):
            return "denied"
        if self.left is not None:
            self.left -= 1
        if method in self.grant.gated and not (self.grant.own and self._is_own(method, arguments)):
            return "asked"
        return "allowed"

    def returned(self, method: str, result: Any) -> None:
        """Notes what a call made."""
        for kind, key in self._makes.get(method, {}).items():
            if isinstance(result, dict) and key in result:
                self.made.add((kind, result[key]))

    def _is_own(self, method: str, arguments: Mapping[str, Any]) -> bool:
        named = self._names.get(method, {})
        return bool(named) and all((kind, arguments.get(key)) in self.made for kind, key in named.items())


def within_fields(bounds: Mapping[str, Bound], arguments: Mapping[str, Any]) -> bool:
    """Whether each named argument fits its bound, and no other argument is there."""
    return all(name in bounds for name in arguments) and all(
        within(bound, name in arguments, arguments.get(name)) for name, bound in bounds.items()
    )


def within(bound: Bound, there: bool, value: Any) -> bool:
    """Whether a value, or the absence of one, fits a bound."""
    if "min" in bound and "max" in bound:
        return within({"min": bound["min"]}, there, value) and within({"max": bound["max"]}, there, value)
    ((kind, of),) = bound.items()
    match kind:
        case "any":
            return True
        case "optional":
            return not there or within(of, True, value)
        case "is":
            return there and same(of, value)
        case "oneOf":
            return there and any(same(each, value) for each in of)
        case "min" | "max":
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            return there and is_number and (value >= of if kind == "min" else value <= of)
        case "like":
            return there and isinstance(value, str) and _template(of).fullmatch(value) is not None
    raise AssertionError(f"the model knows no bound {kind}")


def same(one: Any, other: Any) -> bool:
    """Equality by type and value, where numbers are numbers: JavaScript has one kind of them."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one == other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if (
        isinstance(one, Sequence)
        and isinstance(other, Sequence)
        and not isinstance(one, str)
        and not isinstance(other, str)
    ):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


@cache
def _hidden() -> str:
    """The characters that no hole takes, as ranges: line breaks, controls, and those that a person does not see."""
    bad = [n for n in range(sys.maxunicode + 1) if unicodedata.category(chr(n)) in _HIDDEN]
    starts = [n for n, before in zip(bad, [-2, *bad], strict=False) if n != before + 1]
    ends = [n for n, after in zip(bad, [*bad[1:], -2], strict=True) if n != after - 1]
    return "".join(f"\\U{start:08x}-\\U{end:08x}" for start, end in zip(starts, ends, strict=True))


@cache
def _template(template: str) -> re.Pattern[str]:
    fixed = re.split(r"\{\w+\}", template)
    return re.compile(f"[^{_hidden()}]+".join(map(re.escape, fixed)))
