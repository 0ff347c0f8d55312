"""Hob inside Hermes: its tools are what a session of Hob holds, and nothing else.

    plugins: {enabled: [hob], entries: {hob: {url: "ws://127.0.0.1:4711", secret: "THE-SESSIONS"}}}
    platform_toolsets: {cli: [hob, no_mcp]}

Promise: whatever goes wrong here, a model gets no tools rather than those that reach this machine. Three guards see to it, and none of them needs
another: `strip` takes foreign tools out of each request, `block` answers foreign calls, `refuse` ends Hermes while a foreign tool is exposed. They
are registered before the tools, so a plugin that breaks half-way has guards and no tools. This process is a client: it has the secret of a session, and
nothing of a granter's.
"""

from __future__ import annotations

from typing import Any


def register(context: Any) -> None:
    """Called by Hermes (entry point `hermes_agent.plugins`)."""
    from . import block, plugin, refuse, strip

    # A guard that cannot be registered ends this here: then there are no tools of ours, and the other guards are there all the same.
    refuse.register(context)
    block.register(context)
    strip.register(context)
    plugin.register(context)
