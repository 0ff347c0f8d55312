"""Hermes' verdicts on paths: the validator of five callers, the rules for writes and reads, and whether two
calls may overlap."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from .ops import Fields, Refusal, attribute, hermes, op, text

SAFETY = "agent.file_safety"


@op(
    "validate_path",
    {"path": "relative to root, or absolute: joined with root as each caller does it", "root": "the directory that it has to stay in"},
    "{inside, error, traversal}; {raised, message} where the validator throws (a loop of links, on older Pythons)",
)
def validate_path(fields: Fields) -> Any:
    """Returns whether a path stays in its root, as `{inside, error, traversal}`. Raises `Refusal`."""
    path, root = text(fields, "path"), Path(text(fields, "root"))
    security = hermes("tools.path_security")
    error = security.validate_within_dir(root / path, root)
    return {"inside": error is None, "error": error, "traversal": security.has_traversal_component(path)}


@op("write_denied", {"path": "a path as a model would give it; `~` is the home of this world"}, "{denied, error, sensitive}: the deny list, and what the file tools check before it")
def write_denied(fields: Fields) -> Any:
    """Returns Hermes' verdict on a write, as `{denied, error, sensitive}`. `error` is None in a version without such a
    text. Raises `Refusal` if the field is wrong or this version lacks the check of sensitive paths."""
    path = text(fields, "path")
    safety = hermes(SAFETY)
    tell = getattr(safety, "get_write_denied_error", None)
    sensitive = attribute("tools.file_tools", "_check_sensitive_path")(path)
    return {"denied": safety.is_write_denied(path), "error": tell(path) if tell else None, "sensitive": sensitive}


@op("read_blocked", {"path": "a path as a model would give it"}, "{blocked, error}")
def read_blocked(fields: Fields) -> Any:
    """Returns Hermes' verdict on a read, as `{blocked, error}`. Raises `Refusal`."""
    error = hermes(SAFETY).get_read_block_error(text(fields, "path"))
    return {"blocked": error is not None, "error": error}


@op("cross_profile", {"path": "a path; the active profile is that of HERMES_HOME (see env)"}, "{crosses, target, warning}: a soft rule, a model may pass it by")
def cross_profile(fields: Fields) -> Any:
    """Returns whether a path is in another profile, as `{crosses, target, warning}`. Raises `Refusal`."""
    path = text(fields, "path")
    safety = hermes(SAFETY)
    target = safety.classify_cross_profile_target(path)
    return {"crosses": target is not None, "target": target, "warning": safety.get_cross_profile_warning(path)}


@op("sandbox_mirror", {"path": "a path"}, "{mirror, target, warning}: a soft rule")
def sandbox_mirror(fields: Fields) -> Any:
    """Returns whether a path is in a sandbox's mirror, as `{mirror, target, warning}`. Raises `Refusal`."""
    path = text(fields, "path")
    safety = hermes(SAFETY)
    target = safety.classify_sandbox_mirror_target(path)
    return {"mirror": target is not None, "target": target, "warning": safety.get_sandbox_mirror_warning(path)}


@op("file_rules", {}, "{write_denied: [path], write_denied_prefixes: [prefix], read_blocked_names: [name]}: the lists of this version, for this world's home")
def file_rules(_: Fields) -> Any:
    """Returns the sorted lists `{write_denied, write_denied_prefixes, read_blocked_names}` for the home of this world.
    Raises `Refusal`."""
    safety = hermes(SAFETY)
    home = str(Path.home().resolve())
    return {
        "write_denied": sorted(safety.build_write_denied_paths(home)),
        "write_denied_prefixes": sorted(safety.build_write_denied_prefixes(home)),
        "read_blocked_names": sorted(safety._BLOCKED_PROJECT_ENV_BASENAMES),
    }


@op(
    "paths_overlap",
    {"left": "the path of one call", "right": "the path of another", "tool?": "the tool that both call (write_file)"},
    "{overlap, left, right}: the paths as Hermes makes them comparable, and whether the two calls may not run at once",
)
def paths_overlap(fields: Fields) -> Any:
    """Returns whether two calls of a tool may not run at once, and their paths as Hermes compares them. Raises
    `Refusal`, also if Hermes sees no path in a call."""
    dispatch = hermes("agent.tool_dispatch_helpers")
    tool = text(fields, "tool", "write_file")
    left, right = (_scope(dispatch, tool, text(fields, side)) for side in ("left", "right"))
    return {"overlap": dispatch._paths_overlap(left, right), "left": str(left), "right": str(right)}


def _scope(dispatch: Any, tool: str, path: str) -> Path:
    scope = dispatch._extract_parallel_scope_path
    # 0.19 gets the directory of the tools. 0.17 uses the directory of the process, which is the same here.
    more = [Path.cwd()] if len(inspect.signature(scope).parameters) > 2 else []
    found = scope(tool, {"path": path}, *more)
    if found is None:
        raise Refusal("bad-input", "Hermes sees no path in that call: the tool is not one with a path, or the path is blank")
    return Path(found)
