"""The five callers of `validate_within_dir`: checks one path through each function of Hermes that relies on
it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .ops import APART, Fields, Refusal, hermes, op, text

SKILL = "---\nname: {name}\ndescription: a skill to try paths on\n---\n\nA skill.\n"


@op(
    "caller",
    {
        "caller": "skill_write, skill_view, cron_script, credential_file, credential_config",
        "path": "the path as a model, or a skill, gives it",
        "content?": "skill_write: what is written (x)",
        "skill?": "skill_write, skill_view: the skill, made under HERMES_HOME/skills where it is missing (probe)",
    },
    "{allowed, error, result}: result is the caller's own answer. skill_write does write, skill_view does read",
    where=APART,
    modules=("tools.skill_manager_tool", "tools.skills_tool", "tools.cronjob_tools", "tools.credential_files"),
)
def caller(fields: Fields) -> Any:
    """Gives the path to one caller. Returns `{allowed, error, result}`. Raises `Refusal` if a field is wrong or the
    caller is not known."""
    asked = CALLERS.get(text(fields, "caller"))
    if asked is None:
        raise Refusal("bad-input", f"the callers are {', '.join(CALLERS)}")
    text(fields, "path")
    return asked(fields)


def _skill_write(fields: Fields) -> Any:
    manager = hermes("tools.skill_manager_tool")
    made = manager.skill_manage(action="write_file", name=_skill(fields), file_path=fields["path"], file_content=text(fields, "content", "x"))
    return _of_skills(made)


def _skill_view(fields: Fields) -> Any:
    return _of_skills(hermes("tools.skills_tool").skill_view(_skill(fields), file_path=fields["path"]))


def _of_skills(said: str) -> Any:
    result = json.loads(said)
    return {"allowed": bool(result.get("success")), "error": result.get("error"), "result": result}


def _cron_script(fields: Fields) -> Any:
    error = hermes("tools.cronjob_tools")._validate_cron_script_path(fields["path"])
    return {"allowed": error is None, "error": error, "result": None}


def _credential_file(fields: Fields) -> Any:
    credentials = hermes("tools.credential_files")
    allowed = credentials.register_credential_file(fields["path"])
    return {"allowed": allowed, "error": None, "result": credentials.get_credential_file_mounts()}


def _credential_config(fields: Fields) -> Any:
    file = _hermes_home() / "config.yaml"
    file.write_text(json.dumps({**json.loads(file.read_text()), "terminal": {"credential_files": [fields["path"]]}}))
    mounts = hermes("tools.credential_files")._load_config_files()
    return {"allowed": len(mounts) > 0, "error": None, "result": mounts}


def _skill(fields: Fields) -> str:
    name = text(fields, "skill", "probe")
    folder = _hermes_home() / "skills" / name
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name))
    return name


def _hermes_home() -> Path:
    return Path(os.environ["HERMES_HOME"])


CALLERS: dict[str, Callable[[Fields], Any]] = {
    "skill_write": _skill_write,
    "skill_view": _skill_view,
    "cron_script": _cron_script,
    "credential_file": _credential_file,
    "credential_config": _credential_config,
}
