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
    """Bounds of arguments. Of a method of an offered object by name: `{"send": {"to": {"is": "ann"}}}`."""
    scope: str
    """`once`, `session`, `permanent`."""
    gated: bool | Sequence[str]
    audited: bool
    mount: bool
    drafts: Sequence[str]
    """Calls of these methods of a directory are kept as drafts, until a person says yes."""
    own: bool
    """What the session made itself through this grant it changes without the wait of `gated` or `drafts`."""
    level: str
    """With a firewall, the highest level of risk that goes on without a person: `low`, `medium`, `high`."""
    person_only: bool
    """A call that waits is for a person alone: no judge sees it."""
    made: Mapping[str, Any]
    """Terms of the objects that a call returns: `uses`, `seconds`, `until`, `methods`, `where`, `audited`. The grant
    needs `uses`, at most 1,000, or `scope="once"`."""


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
        elif name in ("own", "person_only"):
            # The host knows these as true, or left out.
            if value is True:
                said["own" if name == "own" else "personOnly"] = True
            elif value is not False:
                raise Invalid(f"{name} is True or False")
        elif name == "made":
            said[name] = _made(value)
        elif name in ("methods", "gated", "drafts") and not isinstance(value, bool):
            said[name] = list(value)
        else:
            said[name] = value
    return said


def _made(terms: Any) -> dict[str, Any]:
    if not isinstance(terms, Mapping):
        raise Invalid('made is a record of terms, such as {"uses": 3, "seconds": 3600}')
    return on_the_wire(terms)


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
    if "made" in asked:
        terms.setdefault("made", asked["made"])
    return terms
