"""The rule that writes the grants of a task, in each mode.

    none      every tool, without terms: what an agent has without Hob
    coarse    the tools that the task needs, without bounds
    fine      all reading tools. An effect if the prompt names all its targets: with these targets, with the content
              that the prompt quotes, as often as the task needs it
    ask       as fine, and any other effect may be asked for

The rule reads the calls of the task itself (its ground truth). A person would have to know or guess them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from .model import Bound, Grant
from .suites import Stage
from .tools import CLASSES, EFFECTS, targets

MODES: Final = ("none", "coarse", "fine", "ask")


def grants_of(stage: Stage, mode: str) -> list[Grant]:
    """Returns the grants of a session that does the task of this stage."""
    names = tuple(each.name for each in stage.suite.tools)
    if mode == "none":
        return [Grant("tools", names)]
    if mode == "coarse":
        needed = {call.function for call in stage.wanted}
        return [Grant("tools", tuple(name for name in names if name in needed))] if needed else []
    made = [Grant("reads", tuple(name for name in names if name not in EFFECTS)), *_up_front(stage)]
    if mode == "ask":
        effects = tuple(name for name in names if name in EFFECTS)
        made.append(Grant("ask", effects, gated=effects))
    return made


def _up_front(stage: Stage) -> Iterator[Grant]:
    """The effects that the prompt alone states. Calls with equal bounds are one grant with more uses."""
    prompt = stage.user.PROMPT
    found: dict[str, tuple[str, dict[str, Bound], int]] = {}
    creating: Any = None
    for call in stage.wanted:
        if call.function not in EFFECTS:
            continue
        if creating is not None and _names_new(stage, call, prompt):
            # Made by this session: it shares what it has created, and nothing else, without a question.
            first = found.pop(creating)
            bounds = {call.function: _bounds(call, prompt, free=_named_by(call)), first[0]: first[1]}
            methods = (first[0], call.function)
            yield Grant(_petname(first[0], "own"), methods, bounds, uses=first[2] + 1, gated=(call.function,), own=True)
            creating = None
            continue
        if not all(is_stated(value, prompt) for value in targets(call.function, call.args).values()):
            continue
        bounds_of = _bounds(call, prompt)
        key = f"{call.function} {sorted(map(repr, bounds_of.items()))}"
        _, _, uses = found.get(key, ("", {}, 0))
        found[key] = (call.function, bounds_of, uses + 1)
        if "makes" in CLASSES.get(call.function, {}):
            creating = key
    count: dict[str, int] = {}
    for method, bounds_, uses in found.values():
        count[method] = count.get(method, 0) + 1
        yield Grant(_petname(method, count[method]), (method,), {method: bounds_} if bounds_ else {}, uses=uses)


def _petname(method: str, which: object) -> str:
    return f"{method.replace('_', '-')}-{which}"


def _named_by(call: Any) -> frozenset[str]:
    return frozenset(CLASSES.get(call.function, {}).get("names", {}).values())


def _names_new(stage: Stage, call: Any, prompt: str) -> bool:
    """Whether a call names a thing that is not there before the task, and the prompt states its other targets."""
    named = _named_by(call)
    drive = getattr(stage.environment(), "cloud_drive", None)
    if named != {"file_id"} or drive is None or call.args["file_id"] in drive.files:
        return False
    return all(
        is_stated(value, prompt) for name, value in targets(call.function, call.args).items() if name not in named
    )


def _bounds(call: Any, prompt: str, free: frozenset[str] = frozenset()) -> dict[str, Bound]:
    """Targets are pinned. Content is pinned if the prompt has it, or has a template of it. Other content is free. An
    argument that the task does not use may not be there."""
    pinned = targets(call.function, call.args)
    bounds: dict[str, Bound] = {}
    for name, value in call.args.items():
        if name in free:
            bounds[name] = {"any": True}
        elif name in pinned or is_stated(value, prompt):
            bounds[name] = {"is": value}
        else:
            template = next((each for each in templates(prompt) if fits(each, value)), None)
            bounds[name] = {"any": True} if template is None else {"like": template}
    return bounds


def is_stated(value: Any, prompt: str) -> bool:
    """Whether the prompt has this value, as a whole word."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, (list, tuple)):
        return all(is_stated(each, prompt) for each in value)
    if isinstance(value, Mapping):
        return all(is_stated(each, prompt) for each in value.values())
    if isinstance(value, (int, float)):
        return any(float(each) == value for each in re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])", prompt))
    if value in ("r", "rw"):
        return ("read" if value == "r" else "write") in prompt
    return value != "" and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", prompt) is not None


def templates(prompt: str) -> list[str]:
    """The quoted texts of a prompt that have holes, such as 'Dinner at {restaurant_name}'."""
    return re.findall(r"(?<!\w)['\"]([^'\"\n]*\{\w+\}[^'\"\n]*)['\"]", prompt)


def fits(template: str, value: Any) -> bool:
    """Whether a text is like a template."""
    fixed = re.split(r"\{\w+\}", template)
    return isinstance(value, str) and re.fullmatch(".+".join(map(re.escape, fixed)), value) is not None
