"""The settings of the plugin: which host, and the secret of a session there. It gets nothing of a granter.

In Hermes' `config.yaml`, under `plugins.entries.hob`: `url`, `secret_file`, `allow` (names of
`names.HARMLESS`), `wait`. `secret_file` names a file that only its owner may read (chmod 600). So the secret
is in no environment and in no file that is shown or shared. `secret` itself may be given instead.

Or `HOB_URL` with `HOB_SECRET_FILE` or `HOB_SECRET`, which may be in Hermes' `.env`. A secret from there is in
the environment of Hermes. It is removed from it, so that no program that Hermes starts later finds it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import Invalid
from ..secret_file import read_secret
from .names import HARMLESS


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the plugin, checked. `read` makes them."""

    url: str
    secret: str = field(repr=False)
    allow: frozenset[str] = frozenset()
    wait: float = 600.0
    """Seconds that a model waits for a person's answer before it goes on without."""


def read(config: Mapping[str, Any], environment: Mapping[str, str] = os.environ) -> Settings:
    """Reads the settings. Raises `Invalid`, which says what is missing."""
    entry = _entry(config)
    url = environment.get("HOB_URL") or entry.get("url")
    file = environment.get("HOB_SECRET_FILE") or entry.get("secret_file")
    given = environment.get("HOB_SECRET") or entry.get("secret")
    secret = read_secret(file, "secret_file") if isinstance(file, str) and file else given
    if not isinstance(url, str) or not isinstance(secret, str) or not url or not secret:
        raise Invalid("say in plugins.entries.hob of config.yaml which host (url), and the file with the secret of your session (secret_file)")
    wait = entry.get("wait", 600.0)
    if not isinstance(wait, (int, float)) or isinstance(wait, bool) or not 0 < wait <= 86_400:
        raise Invalid("plugins.entries.hob.wait must be a number of seconds, one day at most")
    return Settings(url, secret, allowed(config), float(wait))


def forget_environment() -> None:
    """Removes the secret from the environment, so that programs started from now on do not get it."""
    os.environ.pop("HOB_SECRET", None)


def allowed(config: Mapping[str, Any]) -> frozenset[str]:
    """Returns the allowed names. Raises `Invalid` for a name that is not in `HARMLESS`."""
    allow = _entry(config).get("allow") or []
    if not isinstance(allow, list) or not all(isinstance(name, str) for name in allow):
        raise Invalid("plugins.entries.hob.allow is a list of names")
    if not HARMLESS.issuperset(allow):
        raise Invalid(f"plugins.entries.hob.allow takes {', '.join(sorted(HARMLESS))} only: every other tool can act on this machine")
    return frozenset(allow)


def _entry(config: Mapping[str, Any]) -> Mapping[str, Any]:
    entry: Any = config
    for key in ("plugins", "entries", "hob"):
        entry = entry.get(key) if isinstance(entry, Mapping) else None
    return entry if isinstance(entry, Mapping) else {}
