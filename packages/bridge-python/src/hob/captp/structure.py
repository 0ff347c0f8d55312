"""Checks text before it is parsed.

Promise: text that passes has a limited number of structural tokens (`[ { , :` outside strings) and a limited
depth, and the check costs much less than parsing. Tokens that cost an engine more count as more, after a
number that honest frames do not reach. Text that has few enough tokens, strings included, is not checked
further.
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
    """Raises `Violation` if the text must not be parsed."""
    if len(text) > limits.frame_bytes or (
        len(text) * 3 > limits.frame_bytes and len(text.encode("utf-8", "surrogatepass")) > limits.frame_bytes
    ):
        raise Violation(f"a text frame may have {limits.frame_bytes} bytes: send streams", 1009)
    # The frame, the operation and its list of arguments are levels too. So are the records that stand for
    # values which JSON lacks.
    deepest = limits.depth * 2 + 8
    opened = text.count("[") + text.count("{")
    room = has_room(text, limits)
    if opened <= deepest and room:
        return
    if not room:
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
    """True if the text has no more tokens than a frame may have."""
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
    # Records of the same kind have the same keys, which cost little.
    strings = _STRING_AND_COLON.findall(text)
    named = [string for string, colon in strings if colon]
    tokens += len(set(named[FREE_KEYS:])) * NEW_KEY
    if len(strings) - len(named) > FREE_STRINGS:
        short = sum(1 for string, colon in strings if not colon and len(string) <= SHORT + 2)
        tokens += max(0, short - FREE_STRINGS) * MORE_STRING
    return tokens <= limits.tokens


def parse(text: str, limits: Limits) -> object:
    """Checks the text and parses it as JSON. Raises `Violation`."""
    check(text, limits)
    try:
        return _decode(text)
    except Violation:
        raise
    # Python refuses to read an integer of more than 4,300 digits, and JSON nested deeper than its stack.
    except (ValueError, RecursionError):
        raise Violation("a frame is not JSON") from None
