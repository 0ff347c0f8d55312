"""Hermes' verdicts on a command from its tables, and the tables themselves, read from the installed package."""

from __future__ import annotations

from typing import Any

from .ops import Fields, hermes, op, text

APPROVAL = "tools.approval"


@op(
    "detect",
    {"command": "a command as the model would give it to the terminal"},
    "{hardline, hardline_description, dangerous, key, description, sudo_stdin}; what a caller of the terminal would not be asked about has all false",
)
def detect(fields: Fields) -> Any:
    """Returns what Hermes' tables say about a command. Raises `Refusal`."""
    command = text(fields, "command")
    approval = hermes(APPROVAL)
    hardline, why = approval.detect_hardline_command(command)
    dangerous, key, description = approval.detect_dangerous_command(command)
    return {
        "hardline": bool(hardline),
        "hardline_description": why,
        "dangerous": bool(dangerous),
        "key": key,
        "description": description,
        "sudo_stdin": bool(approval._check_sudo_stdin_guard(command)[0]),
    }


@op("patterns", {}, "{hardline: [{pattern, description}], dangerous: [{pattern, description, aliases}], sudo_stdin: pattern}: every row, in table order")
def patterns(_: Fields) -> Any:
    """Returns every row of Hermes' tables as `{hardline, dangerous, sudo_stdin}`. Raises `Refusal`."""
    approval = hermes(APPROVAL)
    return {
        "hardline": [{"pattern": _source(row[0]), "description": row[1]} for row in approval.HARDLINE_PATTERNS],
        "dangerous": [
            {"pattern": _source(row[0]), "description": row[1], "aliases": sorted(approval._approval_key_aliases(row[1]))} for row in approval.DANGEROUS_PATTERNS
        ],
        "sudo_stdin": _source(approval._SUDO_STDIN_RE),
    }


def _source(pattern: Any) -> str:
    return str(getattr(pattern, "pattern", pattern))
