"""`hob-hermes doctor`: the tools that a configuration of Hermes exposes besides Hob's.

Promise: Hermes itself is asked, with its own functions and for every platform that it knows, so the result is
what Hermes would do. Each finding says what to write. Exit code 0: nothing but Hob's tools; 1: something
else, or the plugin is not enabled or has no session; 2: it could not tell.
"""

# Hermes' own modules are there only where Hermes is.
# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ..errors import CapError
from . import names, refuse, settings


@dataclass(frozen=True, slots=True)
class Finding:
    """One way in which a model gets foreign tools, or a fault of the plugin's set-up, with its remedy."""

    where: str
    """A platform, a job, or a switch."""
    why: str
    tools: list[str] = field(default_factory=list)
    """Tools offered with this configuration."""
    dormant: list[str] = field(default_factory=list)
    """Tools that are not offered yet, because a key or a program is missing for them."""
    remedy: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `hob-hermes` with `argv`, or else with the arguments of the process. Returns the exit code: 0 for no
    finding, 1 for findings, 2 if it could not tell. `acp` returns that of `editor.main`. Raises `SystemExit` (2)
    if the arguments are wrong."""
    parser = argparse.ArgumentParser(prog="hob-hermes", description=__doc__.partition("\n")[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    doctor = commands.add_parser("doctor", help="which tools a configuration of Hermes exposes beside Hob's")
    doctor.add_argument("--home", help="another HERMES_HOME")
    doctor.add_argument("--platform", action="append", help="only this one (cli, telegram, cron, …); may be repeated")
    doctor.add_argument("--toolsets", "-t", help="as you start Hermes with -t")
    doctor.add_argument("--ignore-user-config", action="store_true", help="as you start Hermes with it")
    doctor.add_argument("--json", action="store_true")
    commands.add_parser("acp", help="Hermes for an editor, with Hob's tools and no others; otherwise as hermes acp", add_help=False)
    given, rest = parser.parse_known_args(argv)
    if given.command == "acp":
        from .editor import main as begin

        return begin(rest)
    if rest:
        parser.error(f"unknown: {' '.join(rest)}")
    if given.home is not None:
        os.environ["HERMES_HOME"] = str(Path(given.home).resolve())
    if given.ignore_user_config:
        os.environ["HERMES_IGNORE_USER_CONFIG"] = "1"
    # Some tools are offered only if a person sits in front of Hermes. This is how Hermes is used, and the
    # more careful answer.
    os.environ.setdefault("HERMES_INTERACTIVE", "1")
    # Hermes logs for each tool why it cannot work. This is no news here.
    logging.disable(logging.WARNING)
    try:
        found = list(findings(given.platform, given.toolsets))
    except ImportError as error:
        print(f"hob-hermes: install it where hermes-agent is, in the version that it is made for (0.19.0): {error}", file=sys.stderr)
        return 2
    except Exception as error:
        print(f"hob-hermes: could not tell what Hermes would do ({type(error).__name__}: {error})", file=sys.stderr)
        return 2
    if given.json:
        print(json.dumps([{"where": each.where, "why": each.why, "tools": each.tools, "dormant": each.dormant, "remedy": each.remedy} for each in found]))
    else:
        print("\n".join(_shown(found)))
    return 1 if found else 0


def _shown(found: Sequence[Finding]) -> Iterator[str]:
    alike: dict[str, list[Finding]] = {}
    for each in found:
        alike.setdefault(json.dumps([each.why, each.tools, each.dormant]), []).append(each)
    for group in alike.values():
        first = group[0]
        yield f"{', '.join(each.where for each in group)}: {first.why}"
        if first.tools:
            yield f"    exposed: {', '.join(first.tools)}"
        if first.dormant:
            yield f"    exposed once they can work: {', '.join(first.dormant)}"
        yield from (f"    write: {remedy}" for remedy in _together([each.remedy for each in group if each.remedy]))
    if not found:
        yield "nothing but Hob's tools, on every platform that was looked at"
    yield "Not in a configuration: `hermes --ignore-user-config` offers its own tools again (the plugin then ends Hermes),"
    yield "`--safe-mode` does so without the plugin, and an editor's session (`hermes acp`) always begins with them: there the plugin strips them, and `hob-hermes acp` does not begin without the plugin."


def _together(remedies: Sequence[str]) -> Iterator[str]:
    """Joins the lists of several platforms into one entry."""
    start = "platform_toolsets: {"
    lists = dict.fromkeys(each.removeprefix(start).removesuffix("}") for each in remedies if each.startswith(start))
    if lists:
        yield f"{start}{', '.join(lists)}}}"
    yield from dict.fromkeys(each for each in remedies if not each.startswith(start))


def findings(platforms: Iterable[str] | None = None, toolsets: str | None = None) -> Iterator[Finding]:
    """Yields the findings of the plugin, the platforms (all if none is named), the cron jobs and the switches. With
    `toolsets`, names separated by commas as for `hermes -t`, yields those of the plugin and of these toolsets.
    Raises `ImportError` if Hermes is not installed."""
    config = _config()
    of_the_plugin = list(_of_the_plugin(config))
    yield from of_the_plugin or _of_loading(config)
    if toolsets is not None:
        wanted = [each.strip() for each in toolsets.split(",") if each.strip()]
        yield from _of(f"-t {toolsets}", "these toolsets are named on the command line", wanted, config, "-t hob")
        return
    for platform in platforms or _platforms(config):
        yield from _of_platform(config, platform)
    yield from _of_jobs(config)
    yield from _of_switches(config)


def _config() -> dict[str, Any]:
    """Reads the configuration as the command line of Hermes does. `load_config` alone ignores
    `--ignore-user-config`."""
    from hermes_cli.config import load_config

    if os.environ.get("HERMES_IGNORE_USER_CONFIG") == "1":
        import cli

        return {**load_config(), **cli.load_cli_config(), "platform_toolsets": cli.load_cli_config().get("platform_toolsets") or {}}
    return dict(load_config() or {})


def _of_the_plugin(config: Mapping[str, Any]) -> Iterator[Finding]:
    from hermes_cli.config import load_config

    plugins = (load_config() or {}).get("plugins")
    plugins = plugins if isinstance(plugins, Mapping) else {}
    enabled, disabled = plugins.get("enabled"), plugins.get("disabled")
    if not isinstance(enabled, list) or "hob" not in enabled or (isinstance(disabled, list) and "hob" in disabled):
        yield Finding("plugin", "Hob's plugin is not loaded: no guard is there", remedy="plugins: {enabled: [hob]}")
    try:
        settings.read(load_config() or {}, {**_dotenv(), **os.environ})
    except CapError as error:
        yield Finding("plugin", error.message, remedy='plugins: {entries: {hob: {url: "ws://127.0.0.1:PORT", secret_file: "~/.hermes/hob.secret"}}}')


def _of_loading(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Has Hermes load the plugin. One that it cannot load guards nothing, and no list counts for an editor."""
    try:
        from hermes_cli import plugins

        from .editor import missing_part

        plugins.discover_plugins()
        missing = missing_part(plugins.get_plugin_manager())
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "hob":
            raise
        missing = f"the plugin could not be loaded ({error})"
    except Exception as error:
        missing = f"the plugin could not be loaded ({type(error).__name__}: {error})"
    if missing is not None:
        tools, dormant = exposed([names.ACP_TOOLSET])
        ours = names.NAMES | _allowed(config)
        remedy = "install the package anew where Hermes is, and let an editor start `hob-hermes acp`, which does not begin without the plugin"
        yield Finding("hermes acp", f"{missing}, so no guard is there", sorted(tools - ours), sorted(dormant - tools - ours), remedy)


def _dotenv() -> dict[str, str]:
    """Returns the variables that Hermes would read from its `.env`."""
    try:
        from dotenv import dotenv_values
        from hermes_cli.config import get_env_path

        return {key: value for key, value in dotenv_values(get_env_path()).items() if value}
    except ImportError:
        return {}


def _platforms(config: Mapping[str, Any]) -> list[str]:
    """Returns all platforms that Hermes knows or the configuration names."""
    from hermes_cli.tools_config import PLATFORMS

    listed = config.get("platform_toolsets")
    return list(dict.fromkeys([*PLATFORMS, *(listed if isinstance(listed, Mapping) else ())]))


def _of_platform(config: Mapping[str, Any], platform: str) -> Iterator[Finding]:
    from hermes_cli.tools_config import _get_platform_tools

    lists = config.get("platform_toolsets")
    listed = lists.get(platform) if isinstance(lists, Mapping) else None
    toolsets = sorted(_get_platform_tools(dict(config), platform))
    if not isinstance(listed, list):
        yield from _of(platform, "it has no list of its own", toolsets, config, f"platform_toolsets: {{{platform}: [{names.TOOLSET}, no_mcp]}}")
        return
    # Hermes adds some toolsets that a list does not name.
    back = [each for each in toolsets if each not in listed]
    if "no_mcp" not in listed and _servers(config).intersection(back):
        remedy = f"platform_toolsets: {{{platform}: [{names.TOOLSET}, no_mcp]}}"
    elif _foreign(listed, config) == ([], []):
        remedy = f"agent: {{disabled_toolsets: [{', '.join(each for each in back if _foreign([each], config) != ([], []))}]}}"
    else:
        remedy = f"platform_toolsets: {{{platform}: [{names.TOOLSET}, no_mcp]}}"
    yield from _of(platform, "its list has more than Hob, or Hermes adds to it", toolsets, config, remedy)


def _of(where: str, why: str, toolsets: Sequence[str], config: Mapping[str, Any], remedy: str) -> Iterator[Finding]:
    tools, dormant = _foreign(toolsets, config)
    if tools or dormant:
        yield Finding(where, why, tools, dormant, remedy)


def _foreign(toolsets: Sequence[str], config: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Returns the foreign tools of these toolsets: those offered now, and those offered once they can work."""
    now, later = exposed(toolsets, _disabled(config))
    ours = names.NAMES | _allowed(config)
    # Some toolsets get their tools only when a session begins.
    servers = _servers(config)
    unknown = [f"all tools of the MCP server {each}" for each in toolsets if each in servers]
    if "context_engine" in toolsets:
        unknown.append("the tools of the context engine")
    return [*sorted(now - ours), *unknown], sorted(later - now - ours)


def exposed(toolsets: Sequence[str], disabled: Sequence[str] = ()) -> tuple[set[str], set[str]]:
    """Returns the names that a model would be offered now, and all other names in these toolsets."""
    from model_tools import get_tool_definitions
    from toolsets import resolve_toolset

    now = {str(tool["function"]["name"]) for tool in get_tool_definitions(list(toolsets), list(disabled) or None, quiet_mode=True)}
    later = {str(name) for toolset in toolsets for name in resolve_toolset(toolset)}
    return now, later - {str(name) for toolset in disabled for name in resolve_toolset(toolset)}


def _disabled(config: Mapping[str, Any]) -> list[str]:
    agent = config.get("agent")
    disabled = agent.get("disabled_toolsets") if isinstance(agent, Mapping) else None
    return [str(each) for each in disabled] if isinstance(disabled, list) else []


def _allowed(config: Mapping[str, Any]) -> frozenset[str]:
    try:
        return settings.allowed(config)
    except CapError:
        return frozenset()


def _servers(config: Mapping[str, Any]) -> set[str]:
    from hermes_cli.tools_config import enabled_mcp_server_names

    return set(enabled_mcp_server_names(dict(config)))


def _of_jobs(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks the jobs of cron. A job may have a list of its own, which replaces the platform's."""
    from hermes_constants import get_hermes_home

    file = Path(get_hermes_home()) / "cron" / "jobs.json"
    if not file.exists():
        return
    said = json.loads(file.read_text(encoding="utf-8-sig"))
    for job in said.get("jobs", []) if isinstance(said, Mapping) else said:
        own = job.get("enabled_toolsets")
        if own:
            name = job.get("name") or job.get("id")
            yield from _of(f"cron job {name}", "it has a list of its own", [str(each) for each in own], config, "take enabled_toolsets from the job")


def _of_switches(config: Mapping[str, Any]) -> Iterator[Finding]:
    """Checks the switches that bypass every list."""
    from agent.coding_context import CODING_PROFILE, _coding_mode

    if _coding_mode(dict(config)) == "focus" and CODING_PROFILE.toolset is not None:
        why = "in a directory with code it replaces the lists of the command line"
        yield from _of("agent.coding_context", why, [CODING_PROFILE.toolset], config, "agent: {coding_context: auto}")
    if os.environ.get("HERMES_KANBAN_TASK"):
        yield from _of("HERMES_KANBAN_TASK", "it adds tools to every list", ["kanban"], config, "start Hermes without it")
    if refuse.hands_over(config):
        yield Finding("model", "turns are handed to codex app-server, which has tools of its own", remedy="model: {openai_runtime: auto}")
    for section in ("model", "delegation"):
        said = config.get(section)
        if isinstance(said, Mapping) and refuse.is_an_agent(str(said.get("provider") or ""), str(said.get("base_url") or "")):
            yield Finding(section, "the model is behind another agent program, which has tools of its own", remedy=f"another {section}.provider")
    curator = config.get("curator")
    if isinstance(curator, Mapping) and curator.get("enabled", True) and curator.get("consolidate"):
        yield Finding("curator", "it runs an agent with every toolset", remedy="curator: {consolidate: false}")


if __name__ == "__main__":
    sys.exit(main())
