"""What the plugin is told: which host, and the secret of a session there. Nothing of a granter's.

In Hermes' `config.yaml`, under `plugins.entries.hob`: `url`, `secret`, `allow` (of `names.HARMLESS`), `wait`. Or `HOB_URL` and `HOB_SECRET`, which
may stand in Hermes' `.env`.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Invalid
from .names import HARMLESS


@dataclass(frozen=True, slots=True)
class Settings:
    url: str
    secret: str = field(repr=False)
    allow: frozenset[str] = frozenset()
    wait: float = 600.0
    """Seconds that a model waits for a person's answer before it goes on without."""


def read(config: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Raises `Invalid`, which says what is missing."""
    entry = _entry(config)
    url = environment.get("HOB_URL") or entry.get("url")
    secret = environment.get("HOB_SECRET") or entry.get("secret")
    if not isinstance(url, str) or not isinstance(secret, str) or not url or not secret:
        raise Invalid("say in plugins.entries.hob of config.yaml which host (url) and the secret of your session (secret)")
    wait = entry.get("wait", 600.0)
    if not isinstance(wait, (int, float)) or isinstance(wait, bool) or not 0 < wait <= 86_400:
        raise Invalid("plugins.entries.hob.wait is a number of seconds, up to a day")
    return Settings(url, secret, allowed(config), float(wait))


def allowed(config: Mapping[str, Any]) -> frozenset[str]:
    """Raises `Invalid` for what is not harmless."""
    allow = _entry(config).get("allow") or []
    if not isinstance(allow, list) or not all(isinstance(name, str) for name in allow):
        raise Invalid("plugins.entries.hob.allow is a list of names")
    if not HARMLESS.issuperset(allow):
        raise Invalid(f"plugins.entries.hob.allow takes {', '.join(sorted(HARMLESS))} only: everything else reaches this machine")
    return frozenset(allow)


def _entry(config: Mapping[str, Any]) -> Mapping[str, Any]:
    entry: Any = config
    for key in ("plugins", "entries", "hob"):
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    return entry if isinstance(entry, Mapping) else {}
