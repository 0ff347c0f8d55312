"""AgentDojo through a real Hob host. See README.md beside this folder."""
