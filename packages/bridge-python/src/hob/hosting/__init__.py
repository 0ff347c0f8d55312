"""Tool hosts: a Python program that runs a Hob host and brings its own tools.

    async with hob.Host(state="state") as host:
        await host.granter.offer("mail", MailTools())
        session = await host.granter.open_session("agent")
        await host.granter.grant(session.id, "mail", "mail", uses=3)
"""

from __future__ import annotations

from .granter import HostGranter, Offered, Opened
from .host import Host
from .kinds import verbs_of
from .questions import Question

__all__ = ["Host", "HostGranter", "Offered", "Opened", "Question", "verbs_of"]
