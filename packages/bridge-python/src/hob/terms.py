"""The terms of a grant as Python arguments: `uses=3, seconds=60`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from .errors import Invalid


class Terms(TypedDict, total=False):
    """What a grant allows, and until when."""

    uses: int
    seconds: float
    """Without this and `until`, a grant ends after 15 minutes, and one with `uses` ends with its session."""
    until: float | datetime
    """Seconds since 1970."""
    methods: Sequence[str]
    where: Mapping[str, Any]
    scope: str
    """`once`, `session`, `permanent`."""
    gated: bool | Sequence[str]
    audited: bool
    mount: bool


_KNOWN = Terms.__optional_keys__


def on_the_wire(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Returns terms as the host expects them. Raises `Invalid` for a term that is not known."""
    said: dict[str, Any] = {}
    for name, value in terms.items():
        if name not in _KNOWN:
            raise Invalid(f'no term is called "{name}": there are {", ".join(sorted(_KNOWN))}')
        if value is None:
            continue
        if name == "seconds":
            said["for"] = round(value * 1000)
        elif name == "until":
            said["until"] = round((value.timestamp() if isinstance(value, datetime) else value) * 1000)
        elif name in ("methods", "gated") and not isinstance(value, bool):
            said[name] = list(value)
        else:
            said[name] = value
    return said


_TIMES = ("for", "until")
_LASTING = ("session", "permanent")


def completed(asked: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the terms of an approval, completed with the requested ones. The host takes the stricter of the
    two, term by term, and terms without a time would mean 15 minutes."""
    terms = dict(said)
    if terms.get("scope") == "once":
        del terms["scope"]
        terms.setdefault("uses", 1)
    if not (any(name in terms for name in _TIMES) or terms.get("scope") in _LASTING):
        time = {name: asked[name] for name in _TIMES if name in asked}
        scope = asked.get("scope")
        if not time and (scope is not None or "uses" in asked):
            time = {"scope": "permanent" if scope == "permanent" else "session"}
        terms = {**time, **terms}
    if asked.get("mount") is True:
        terms.setdefault("mount", True)
    return terms
