"""AgentDojo through a real Hob host. See README.md beside this folder."""

from __future__ import annotations

from . import stand_ins

# Before anything of AgentDojo is imported.
stand_ins.install()
