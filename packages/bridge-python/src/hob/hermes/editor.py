"""`hob-hermes acp`: Hermes for an editor (ACP) that starts only with Hob in it. An editor starts it in place
of `hermes acp`.

Promise: an editor's session has the tools of Hob's plugin and those that its operator allows
(`names.HARMLESS`), or none. No configuration of Hermes controls an editor's tools: its own are in the toolset
`hermes-acp`, and a plugin that cannot be loaded removes nothing. So they are removed here, before Hermes
begins. Hermes does not begin if the plugin or one of its guards is missing.
"""

# Hermes' own modules are there only where Hermes is.
# pyright: reportMissingImports=false

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import block, names, plugin, refuse, strip


def main(argv: Sequence[str]) -> int:
    """Runs Hermes for an editor with these arguments. Returns 0 when it has ended, 2 if Hermes is not installed, and
    78 if it did not start Hermes, because an editor could get other tools than Hob's."""
    try:
        # First, because it tells the plugin that this process serves an editor.
        from acp_adapter import entry
        from hermes_cli import plugins
    except ImportError as error:
        print(f"hob-hermes: install it where hermes-agent[acp] is, in the version that it is made for (0.19.0): {error}", file=sys.stderr)
        return 2
    try:
        _without_its_own()
        plugins.discover_plugins()
        missing = _missing(plugins.get_plugin_manager())
        _fill(names.NAMES | plugin.allowed_besides())
    except Exception as error:
        missing = f"Hob could not tell what an editor would be offered ({type(error).__name__}: {error})"
    if missing is not None:
        print(f"hob-hermes: Hermes was not started: {missing}", file=sys.stderr)
        return refuse.EXIT
    entry.main(list(argv))
    return 0


def _without_its_own() -> None:
    """Removes Hermes' own tools from the toolset of an editor. Tools of plugins are kept elsewhere."""
    import toolsets

    toolsets.TOOLSETS[names.ACP_TOOLSET] = {"description": "what Hob's caps allow", "tools": [], "includes": []}


def _fill(tools: frozenset[str]) -> None:
    """Adds our tools by name too: a child of Hermes gets no toolset that is empty for it."""
    import toolsets

    toolsets.TOOLSETS[names.ACP_TOOLSET]["tools"] = sorted(tools)


def _missing(manager: Any) -> str | None:
    """Returns what keeps an editor from having Hob's tools only, and None if nothing does."""
    from toolsets import resolve_toolset

    foreign = set(resolve_toolset(names.ACP_TOOLSET)) - names.NAMES
    others = f"another plugin offers an editor {', '.join(sorted(foreign))}: disable it" if foreign else None
    return missing_part(manager) or others


def missing_part(manager: Any) -> str | None:
    """Returns the part of the plugin that is missing, and None if all of it is there."""
    for kind, guard in (
        ("llm_request", strip.on_request),
        ("llm_request", refuse.before_request),
        ("llm_execution", refuse.around_request),
        ("tool_execution", block.around_call),
    ):
        if guard not in manager._middleware.get(kind, ()):
            return _not_loaded(manager)
    if block.before_call not in manager._hooks.get("pre_tool_call", ()) or not names.NAMES.issubset(plugin.handlers):
        return _not_loaded(manager)
    return None


def _not_loaded(manager: Any) -> str:
    for known in manager.list_plugins():
        if known.get("name") in ("hob", "hob.hermes") and known.get("error"):
            return f"the plugin could not be loaded ({known['error']})"
    return "the plugin is not enabled: write plugins: {enabled: [hob]} into config.yaml"
