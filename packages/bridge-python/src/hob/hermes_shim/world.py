"""The world in which Hermes runs: a home, a HERMES_HOME and a working directory of its own.

Promise: nothing of the user (environment, configuration, credentials) reaches Hermes, and this process can
never open a connection: an audit hook refuses it. The hook does not bind programs that the real terminal
starts. If Hermes may execute, the whole shim must run in a sandbox.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The first words of the module names in the package that have state.
STATEFUL = ("tools", "agent", "hermes_cli", "acp_adapter", "hermes_constants", "utils", "gateway", "model_tools", "toolsets")

# The configuration of Hermes if the line gives none: no scanner that would be downloaded, and short waits for
# a person.
BASE: dict[str, Any] = {
    "approvals": {"mode": "manual", "timeout": 2, "gateway_timeout": 2},
    "security": {"tirith_enabled": False},
}

KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ")


@dataclass(frozen=True)
class World:
    """The directories of one world, as absolute paths. `own`: its root is temporary, and is removed with it."""

    root: Path
    home: Path
    hermes_home: Path
    work: Path
    own: bool

    def configure(self, more: dict[str, Any]) -> None:
        """Writes Hermes' `config.yaml`: `BASE` with `more` put over it."""
        self.hermes_home.mkdir(parents=True, exist_ok=True)
        # JSON is YAML.
        (self.hermes_home / "config.yaml").write_text(json.dumps(over(BASE, more)))

    def remove(self) -> None:
        """Removes the root and everything in it, if the root is temporary."""
        if self.own:
            shutil.rmtree(self.root, ignore_errors=True)


def over(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """Returns a new record: `base` with `more` put over it. Records that both have are merged in the same way."""
    both = {**base, **more}
    for name in base.keys() & more.keys():
        if isinstance(base[name], dict) and isinstance(more[name], dict):
            both[name] = over(base[name], more[name])
    return both


def make(root: str | None, home: str | None, hermes_home: str | None, work: str | None) -> World:
    """Makes the world. Directories that were given are kept; the others are removed with it."""
    top = Path(root) if root else Path(tempfile.mkdtemp(prefix="hob-shim-"))
    at_home = Path(home) if home else top / "home"
    made = World(
        root=top.absolute(),
        home=at_home.absolute(),
        hermes_home=Path(hermes_home).absolute() if hermes_home else at_home.absolute() / ".hermes",
        work=Path(work).absolute() if work else top.absolute() / "work",
        own=root is None,
    )
    for folder in (made.home, made.hermes_home, made.work):
        folder.mkdir(parents=True, exist_ok=True)
    if not (made.hermes_home / "config.yaml").exists():
        made.configure({})
    return made


def enter(world: World) -> None:
    """Enters the world. From now on this process sees no other."""
    # `-m` puts the working directory first, and a folder `tools` there would be taken for Hermes'.
    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    os.environ.clear()
    os.environ.update(kept)
    os.environ.update(
        HOME=str(world.home),
        HERMES_HOME=str(world.hermes_home),
        TERMINAL_ENV="local",
        TERMINAL_CWD=str(world.work),
        PYTHONDONTWRITEBYTECODE="1",
    )
    os.chdir(world.work)
    sys.addaudithook(_no_network)


def _no_network(event: str, args: tuple[Any, ...]) -> None:
    if event == "socket.getaddrinfo" or (event == "socket.connect" and args[0].family != socket.AF_UNIX):
        raise PermissionError("the shim opens no connection")


def anew() -> None:
    """Removes Hermes' modules, so that they read their configuration again at the next import."""
    for name in [name for name in sys.modules if name.split(".")[0] in STATEFUL]:
        del sys.modules[name]
