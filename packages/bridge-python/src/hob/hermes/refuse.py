"""The third guard: Hermes ends, before anything is sent, while a foreign tool is exposed.

Promise: it checks the tools that Hermes would offer by itself, before `strip`, and the tools that are really
sent, after all other middleware. If it cannot tell, it ends Hermes too. If no configuration can remove a
foreign tool (an editor's session, ACP), only the second check counts. An exception does not work: Hermes
catches those of plugins and goes on. (Neither does the hook `pre_api_request`: for a long conversation it
gets a text that is cut, without the tools.)
"""

# Hermes' own modules are there only where Hermes is.
# pyright: reportMissingImports=false

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, Final

from . import EXIT as EXIT, names


def register(context: Any) -> None:
    """Registers three checks with Hermes: of a turn, of Hermes' own request, and of the request that is sent."""
    context.register_hook("pre_llm_call", at_turn)
    context.register_middleware("llm_request", before_request)
    context.register_middleware("llm_execution", around_request)


def at_turn(**_about: Any) -> None:
    """Checks turns that are handed to another agent program. They never become a request."""
    _look(_handed_over)


def before_request(original_request: Any = None, **about: Any) -> None:
    """Ends Hermes if the model is behind another agent program, if Hermes' own request has a foreign tool, or if Hob
    cannot tell. In an editor's session foreign tools of this request do not count."""
    _look(lambda: _exposed(original_request, about))


def around_request(request: Any = None, next_call: Callable[..., Any] | None = None, **_about: Any) -> Any:
    """Ends Hermes if the request to be sent has a foreign tool, or if Hob cannot tell. Otherwise returns the result of
    `next_call`."""
    _look(lambda: _foreign(request))
    return next_call(request) if next_call is not None else None


def _look(why: Callable[[], str | None]) -> None:
    try:
        reason = why()
    except BaseException as error:
        reason = f"Hob could not tell which tools are exposed ({type(error).__name__})"
    if reason is not None:
        stop(reason)


def _exposed(request: Any, about: Mapping[str, Any]) -> str | None:
    from . import plugin

    if is_an_agent(str(about.get("provider") or ""), str(about.get("base_url") or "")):
        return "the model is behind another agent program, which has tools of its own"
    return None if plugin.only_stripped(about) else _foreign(request)


def _foreign(request: Mapping[str, Any]) -> str | None:
    from . import plugin

    foreign = names.foreign_in(request, names.NAMES | plugin.allowed_besides())
    return f"these tools are exposed beside Hob's: {', '.join(foreign)}" if foreign else None


def _handed_over() -> str | None:
    from hermes_cli.config import load_config

    return "turns are handed to codex app-server, which has tools of its own" if hands_over(load_config()) else None


def hands_over(config: object) -> bool:
    """True if the configuration hands turns to codex app-server. It can say so in several places."""
    if isinstance(config, Mapping):
        return any(hands_over(value) for value in config.values())
    if isinstance(config, (list, tuple)):
        return any(map(hands_over, config))
    return isinstance(config, str) and config.strip().lower() == "codex_app_server"


def is_an_agent(provider: str, base_url: str) -> bool:
    """True if the name of the provider ends with `-acp` or its URL begins with `acp`. Such a model
    is behind an agent program with tools of its own."""
    return provider.lower().endswith("-acp") or base_url.lower().startswith("acp")


def stop(reason: str) -> None:
    """Writes to the descriptor itself, because Hermes redirects `sys.stderr` in some of its modes."""
    text = f"hob: Hermes was ended before anything was sent: {reason}. `hob-hermes doctor` says how to close it\n"
    try:
        os.write(2, text.encode(errors="replace"))
    finally:
        os._exit(EXIT)
