"""Looks at text before it is parsed.

Promise: what passes has at most so many structural characters (`[ { , :` outside strings; what costs an
engine more than others counts as more, after the first thousands) and is nested at most so deep.
Looking costs much less than parsing: text that has few enough of them, strings included, is not looked at twice.
"""

from __future__ import annotations

import json
import re
from typing import Final

from ..errors import Violation
from .limits import FREE_KEYS, FREE_LISTS, FREE_STRINGS, MORE_LIST, MORE_STRING, NEW_KEY, SHORT, Limits

_STRING: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_STRING_AND_COLON: Final = re.compile(r'("[^"\\]*(?:\\.[^"\\]*)*"?)[ \t\r\n]*(:?)', re.DOTALL)
_NO_BRACKET: Final = re.compile(r"[^\[\]{}]+")


def _not_finite(text: str) -> float:
    raise Violation(f"{text} is no number of JSON")


_decode: Final = json.JSONDecoder(parse_constant=_not_finite).decode


def check(text: str, limits: Limits) -> None:
    """Raises `Violation` where text may not be parsed."""
    if len(text) > limits.frame_bytes or (
        len(text) * 3 > limits.frame_bytes and len(text.encode("utf-8", "surrogatepass")) > limits.frame_bytes
    ):
        raise Violation(f"a text frame may have {limits.frame_bytes} bytes: send streams", 1009)
    # The frame, its operation and the list of arguments are levels of their own, as are records that stand for what JSON lacks.
    deepest = limits.depth * 2 + 8
    opened = text.count("[") + text.count("{")
    if opened <= deepest and has_room(text, limits):
        return
    if not has_room(text, limits):
        raise Violation(f"a frame may have {limits.tokens} tokens: send less at a time")
    bare = _STRING.sub("", text)
    level = 0
    for letter in _NO_BRACKET.sub("", bare):
        if letter in "[{":
            level += 1
            if level > deepest:
                raise Violation(f"a frame may be nested {limits.depth} deep: send it flatter")
        else:
            level -= 1


def has_room(text: str, limits: Limits) -> bool:
    """Whether it has as few tokens as a frame may have."""
    keys, lists, quotes = text.count(":"), text.count("[") + text.count("{"), text.count('"')
    tokens = lists + keys + text.count(",")
    if keys <= FREE_KEYS and lists <= FREE_LISTS and quotes <= 2 * FREE_STRINGS and tokens <= limits.tokens:
        return True
    bare = _STRING.sub("", text)
    keys, lists = bare.count(":"), bare.count("[") + bare.count("{")
    tokens = lists + keys + bare.count(",") + max(0, lists - FREE_LISTS) * MORE_LIST
    if tokens > limits.tokens:
        return False
    if keys <= FREE_KEYS and quotes <= 2 * FREE_STRINGS:
        return True
    # Records of the same kind have the same keys: those are cheap.
    strings = _STRING_AND_COLON.findall(text)
    named = [string for string, colon in strings if colon]
    tokens += len(set(named[FREE_KEYS:])) * NEW_KEY
    if len(strings) - len(named) > FREE_STRINGS:
        short = sum(1 for string, colon in strings if not colon and len(string) <= SHORT + 2)
        tokens += max(0, short - FREE_STRINGS) * MORE_STRING
    return tokens <= limits.tokens


def parse(text: str, limits: Limits) -> object:
    check(text, limits)
    try:
        return _decode(text)
    except Violation:
        raise
    # Python refuses to read an integer of more than 4,300 digits, and JSON nested deeper than its stack.
    except (ValueError, RecursionError):
        raise Violation("not JSON") from None
