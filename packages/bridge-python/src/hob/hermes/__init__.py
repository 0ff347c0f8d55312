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

import os
import sys
from typing import Any, Final

EXIT: Final = 78
"""EX_CONFIG: the configuration is wrong."""


def register(context: Any) -> None:
    """Called by Hermes (entry point `hermes_agent.plugins`)."""
    try:
        _register(context)
    except BaseException as error:
        # Hermes goes on without a plugin that raises. Lists keep its own tools from a model, but no list counts
        # in an editor's session.
        if is_editors():
            reason = f"the plugin of Hob has a fault ({type(error).__name__}), and an editor's session would have Hermes' own tools"
            os.write(2, f"hob: Hermes was ended before anything was sent: {reason}\n".encode())
            os._exit(EXIT)
        raise


def _register(context: Any) -> None:
    from . import block, plugin, refuse, strip

    # If a guard cannot be registered, this raises. Then there are no tools of ours, and the other guards are
    # there.
    refuse.register(context)
    block.register(context)
    strip.register(context)
    plugin.register(context)


def is_editors() -> bool:
    """True if this process serves an editor: `hermes acp`, `hermes-acp`. Plugins are loaded before Hermes
    decides this."""
    if "acp_adapter.entry" in sys.modules or os.path.basename(sys.argv[0]).startswith("hermes-acp"):
        return True
    words = iter(sys.argv[1:])
    for word in words:
        if word in ("-p", "--profile"):
            next(words, None)
        elif not word.startswith("-"):
            return word == "acp"
    return False
