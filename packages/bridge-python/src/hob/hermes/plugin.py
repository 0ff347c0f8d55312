"""The tools, and the beginnings and ends of Hermes' sessions.

Promise: whatever a model sends, a handler returns a text. It uses only the caps of the session of Hob that
belongs to *its* session of Hermes.
"""

# Hermes' own modules are there only where Hermes is.
# pyright: reportMissingImports=false

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import CancelledError
from concurrent.futures import TimeoutError as NotYet
from functools import partial
from typing import Any, Final, TypeVar

from .. import sync
from ..errors import CapError
from ..tools import ASK, REQUEST, REQUEST_PARAMETERS, Result, parameters_of
from . import is_editors, names
from .sessions import Sessions
from .settings import Settings, allowed, forget_environment, read

T = TypeVar("T")
log: Final = logging.getLogger("hob.hermes")

handlers: Final[dict[str, Callable[..., str]]] = {}
"""Our functions, by name. `block` lets a call through only if Hermes has one of these for it."""


class _State:
    """The state of this process. It is made at the first use."""

    sessions: Sessions | None = None
    settings: Settings | None = None
    allow: frozenset[str] = frozenset()
    in_editor = False
    said: str | None = None


_state: Final = _State()


def register(context: Any) -> None:
    """Registers the tools and the hooks of sessions with Hermes. Raises `Invalid` if the list `allow` is wrong."""
    config = _config()
    _state.allow = allowed(config)
    _state.in_editor = is_editors()
    toolset = names.ACP_TOOLSET if _state.in_editor else names.TOOLSET
    context.register_hook("pre_llm_call", at_turn)
    context.register_hook("subagent_start", at_child)
    context.register_hook("subagent_stop", after_child)
    context.register_hook("on_session_finalize", after_session)
    for verb in names.VERBS:
        schema = {"name": verb.name, "description": verb.description, "parameters": parameters_of(verb)}
        _offer(context, toolset, verb.name, schema)
    _offer(context, toolset, REQUEST, {"name": REQUEST, "description": ASK, "parameters": REQUEST_PARAMETERS})


def _offer(context: Any, toolset: str, name: str, schema: dict[str, Any]) -> None:
    handlers[name] = partial(call, name)
    context.register_tool(name=name, toolset=toolset, schema=schema, handler=handlers[name], description=schema["description"])


def _config() -> Mapping[str, Any]:
    from hermes_cli.config import load_config

    return load_config() or {}


# ---- what the guards ask -----------------------------------------------------------------------------------


def offered(about: Mapping[str, Any]) -> frozenset[str]:
    """Returns the names to offer to the model of this request. Raises `CapError` if it has no session of Hob."""
    _run(_sessions().stand(*_who(about)))
    return names.NAMES | _state.allow


def allowed_besides() -> frozenset[str]:
    """Returns the tools beside ours that the operator allows. Empty before `register`."""
    return _state.allow


def only_stripped(about: Mapping[str, Any]) -> bool:
    """True for an editor's session and its children: no configuration can remove foreign tools there."""
    platform = about.get("platform")
    return _state.in_editor and platform in ("acp", "subagent")


# ---- beginnings and ends -----------------------------------------------------------------------------------


def at_turn(session_id: str = "", platform: str = "", task_id: str = "", **_about: Any) -> dict[str, str] | None:
    """Adds the petnames to the context, so that a model does not guess them. They may change from turn to
    turn."""
    try:
        held = _run(_held(session_id or "", platform or "", task_id or ""))
    except CapError as error:
        _say_once(f"no session: {error.message}")
        return None
    return {"context": f"Your caps: {', '.join(held) or 'none yet'}. For more use {REQUEST}."}


def at_child(parent_session_id: str = "", child_session_id: str = "", child_subagent_id: str = "", **_about: Any) -> None:
    """Makes an empty session of Hob for a delegated child. If a `CapError` prevents it, the child has none, and
    a warning is logged."""
    try:
        _run(_sessions().delegate(parent_session_id or "", child_session_id or "", child_subagent_id or ""))
    except CapError as error:
        log.warning("a child has no session of Hob and so no tools: %s", error.message)


def after_child(child_session_id: str = "", **_about: Any) -> None:
    """Leaves the session of Hob of a child that has ended."""
    after_session(child_session_id)


def after_session(session_id: str = "", **_about: Any) -> None:
    """Leaves the session of Hob of a session of Hermes that has ended."""
    if session_id and _state.sessions is not None:
        _run(_state.sessions.leave(session_id))


# ---- calls -------------------------------------------------------------------------------------------------


def call(name: str, args: Any = None, session_id: str = "", **_about: Any) -> str:
    """Runs a tool of ours for a session of Hermes. Returns JSON, `{"result": text}` or `{"error": text}`."""
    try:
        result = _run(_called(name, args, session_id or ""))
    except CapError as error:
        result = Result(f"refused ({error.code}): {error.message}", True, error.code)
    except CancelledError:
        result = Result("interrupted: it may have happened or not, look before you repeat it", True, "unknown-outcome")
    return json.dumps({"error": result.text} if result.is_error else {"result": result.text}, ensure_ascii=False)


async def _called(name: str, args: Any, id: str) -> Result:
    sessions = _sessions()
    behind = sessions.of(id)
    if name == REQUEST:
        return await sessions.ask(behind, args)
    async with sessions.entered(behind):
        return await behind.tools.call(name, args)


async def _held(id: str, platform: str, task: str) -> list[str]:
    sessions = _sessions()
    async with sessions.entered(await sessions.stand(id, platform, task)) as session:
        return await session.caps()


def _who(about: Mapping[str, Any]) -> tuple[str, str, str]:
    return str(about.get("session_id") or ""), str(about.get("platform") or ""), str(about.get("task_id") or "")


def _settings() -> Settings:
    if _state.settings is None:
        _state.settings = read(_config())
        forget_environment()
    return _state.settings


def _sessions() -> Sessions:
    if _state.sessions is None:
        _state.sessions = Sessions(_settings())
    return _state.sessions


def _say_once(what: str) -> None:
    """Tells the person why there are no tools. Once for each reason."""
    if _state.said != what:
        _state.said = what
        os.write(2, f"hob: {what}\n".encode(errors="replace"))


# ---- waiting -----------------------------------------------------------------------------------------------

_LOOK_S: Final = 0.1


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs in the thread of the connections. Ends early if the person interrupts the agent."""
    future = sync.submit(coroutine)
    while True:
        try:
            return future.result(_LOOK_S)
        except NotYet:
            # The error may come from the coroutine itself.
            if future.done():
                return future.result()
            if _is_interrupted():
                future.cancel()
                return future.result()
        except BaseException:
            future.cancel()
            raise


def _is_interrupted() -> bool:
    try:
        from tools.interrupt import is_interrupted
    except ImportError:
        return False
    return bool(is_interrupted())


