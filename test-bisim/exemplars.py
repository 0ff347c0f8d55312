"""For each regular expression on stdin (a JSON list of texts) some texts that it matches, on stdout (a JSON list of lists).

The expressions are the installed Hermes' own, read at run time; nothing of them is kept here. An expression for which none is
found has an empty list.
"""

import json
import random
import re
import sys
from re import _constants as c
from re import _parser as parser

TRIES = 400
KEPT = 6
CATEGORIES = {c.CATEGORY_SPACE: " ", c.CATEGORY_DIGIT: "1", c.CATEGORY_WORD: "a", c.CATEGORY_NOT_SPACE: "a", c.CATEGORY_NOT_DIGIT: "a", c.CATEGORY_NOT_WORD: " "}
ALPHABET = "ax1 /-.~_\n'\"$=:,rRfc"


def chosen(dice, items):
    """One character of a class."""
    if items[0][0] == c.NEGATE:
        taken = re.compile(f"[{''.join(map(re.escape, filter(None, (plain(i) for i in items[1:]))))}]") if any(map(plain, items[1:])) else None
        free = [char for char in ALPHABET if (taken is None or not taken.match(char)) and not any(outside(char, i) for i in items[1:])]
        return dice.choice(free or ["a"])
    what, value = dice.choice(items)
    if what == c.LITERAL:
        return chr(value)
    if what == c.RANGE:
        return chr(dice.choice(value))
    return CATEGORIES.get(value, "a")


def plain(item):
    return chr(item[1]) if item[0] == c.LITERAL else ""


def outside(char, item):
    what, value = item
    if what == c.RANGE:
        return value[0] <= ord(char) <= value[1]
    if what == c.CATEGORY:
        return bool(re.match({c.CATEGORY_SPACE: r"\s", c.CATEGORY_DIGIT: r"\d", c.CATEGORY_WORD: r"\w"}.get(value, r"(?!)"), char))
    return False


def text(dice, tree, groups):
    out = ""
    for what, value in tree:
        if what == c.LITERAL:
            out += chr(value)
        elif what == c.NOT_LITERAL:
            out += dice.choice([char for char in ALPHABET if ord(char) != value])
        elif what == c.ANY:
            out += dice.choice("x -")
        elif what == c.IN:
            out += chosen(dice, value)
        elif what == c.BRANCH:
            out += text(dice, dice.choice(value[1]), groups)
        elif what in (c.MAX_REPEAT, c.MIN_REPEAT, getattr(c, "POSSESSIVE_REPEAT", None)):
            low, high, inner = value
            for _ in range(min(int(high), low + dice.choice((0, 0, 0, 1)))):
                out += text(dice, inner, groups)
        elif what == c.SUBPATTERN:
            said = text(dice, value[3], groups)
            if value[0] is not None:
                groups[value[0]] = said
            out += said
        elif what == c.GROUPREF:
            out += groups.get(value, "")
        elif what == c.ASSERT and value[0] > 0:
            out += text(dice, value[1], groups) if dice.random() < 0.5 else ""
        elif what == c.ATOMIC_GROUP:
            out += text(dice, value, groups)
    return out


def exemplars(pattern):
    flags = re.IGNORECASE | re.DOTALL
    dice, found, compiled = random.Random(1), [], re.compile(pattern, flags)
    tree = parser.parse(pattern, flags)
    for _ in range(TRIES):
        said = text(dice, tree, {})
        for each in (said, f"{said} ", f" {said}", f"{said} x", f"x {said}"):
            if compiled.search(each) and each.strip() and "\0" not in each and each not in found:
                found.append(each)
                break
    return sorted(found, key=len)[:KEPT]


def main():
    answers = []
    for pattern in json.load(sys.stdin):
        try:
            answers.append(exemplars(pattern))
        except Exception as error:
            print(f"{pattern!r}: {error!r}", file=sys.stderr)
            answers.append([])
    json.dump(answers, sys.stdout)


main()
