"""The verdicts of the real patterns on commands: the probes of seed 000, and rows in which the two versions
differ."""

from __future__ import annotations

import re
from typing import Any

from shim import Shim, both

shim = both()


def flagged(shim: Shim, command: str) -> bool:
    verdict = shim.ask("detect", command=command)
    return bool(verdict["hardline"] or verdict["dangerous"] or verdict["sudo_stdin"])


def test_the_three_probes_of_seed_000(shim: Shim) -> None:
    # The seed expects the first to pass, but both versions catch it.
    verdict = shim.ask("detect", command="r''m -rf /")
    assert verdict["hardline"] and verdict["hardline_description"] and verdict["dangerous"] and verdict["key"] == "delete in root path"
    assert not flagged(shim, "\u0280m -rf /")  # a letter that looks like r
    assert not flagged(shim, "echo / | xargs unlink")
    assert flagged(shim, "echo / | xargs rm -rf")


def test_plain_commands(shim: Shim) -> None:
    rows: list[tuple[str, bool, bool]] = [
        ("ls -la", False, False),
        ("rm -rf ./node_modules", False, True),
        ("rm -rf /", True, True),
        ("git commit -m 'nothing'", False, False),
        ("mkfs.ext4 /dev/sda1", True, True),
    ]
    for command, hardline, dangerous in rows:
        verdict = shim.ask("detect", command=command)
        assert (verdict["hardline"], verdict["dangerous"]) == (hardline, dangerous), command
    assert shim.ask("detect", command="echo pw | sudo -S id")["sudo_stdin"]
    assert not shim.ask("detect", command="echo pw | sudo -S id", env={"SUDO_PASSWORD": "pw"})["sudo_stdin"]


def test_every_pattern_of_the_real_tables_is_listed(shim: Shim) -> None:
    tables: dict[str, Any] = shim.ask("patterns")
    assert len(tables["hardline"]) >= 12 and len(tables["dangerous"]) >= 55
    for row in tables["hardline"] + tables["dangerous"]:
        re.compile(row["pattern"], re.IGNORECASE | re.DOTALL)
        assert row["description"]
    assert re.search(tables["sudo_stdin"], "echo pw | sudo -S id")
    # The key of a command is the description of its row.
    assert shim.ask("detect", command="git push --force")["key"] in [row["description"] for row in tables["dangerous"]]
