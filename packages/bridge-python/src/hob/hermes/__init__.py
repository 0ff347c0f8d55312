"""Hob inside Hermes: the model has the tools of a session of Hob, and nothing else.

    plugins: {enabled: [hob], entries: {hob: {url: "ws://127.0.0.1:4711", secret: "THE-SESSIONS"}}}
    platform_toolsets: {cli: [hob, no_mcp]}

Promise: if anything goes wrong here, a model gets no tools. It never gets tools that reach this machine.
Three guards ensure this, and none needs another: `strip` takes foreign tools out of each request, `block`
refuses foreign calls, and `refuse` ends Hermes while a foreign tool is exposed. They are registered before
the tools, so a plugin that fails half-way has guards and no tools. This process is a client: it has the
secret of a session, and nothing of a granter.
"""

from __future__ import annotations

from typing import Any


def register(context: Any) -> None:
    """Called by Hermes (entry point `hermes_agent.plugins`)."""
    from . import block, plugin, refuse, strip

    # If a guard cannot be registered, this raises. Then there are no tools of ours, and the other guards are
    # there.
    refuse.register(context)
    block.register(context)
    strip.register(context)
    plugin.register(context)
