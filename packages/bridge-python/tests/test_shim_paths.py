"""The verdicts of the real Hermes on paths, with the rows of seeds 001 and 003. A verdict that depends on the
version says so."""

from __future__ import annotations

import os

from shim import Shim, both

shim = both()


def test_the_validator_of_seed_001(shim: Shim) -> None:
    root = shim.root / "fs"
    (root / "skills" / "hermes-fs-as-cap").mkdir(parents=True, exist_ok=True)
    for link, target in [("symlink-to-outside", "/etc/passwd"), ("symlink-inside", "skills"), ("dangling", root / "later")]:
        if not (root / link).is_symlink():
            os.symlink(target, root / link)

    def inside(path: str, below: str = "") -> bool:
        verdict = shim.ask("validate_path", path=path, root=str(root / below))
        assert verdict["inside"] is (verdict["error"] is None)
        return bool(verdict["inside"])

    assert not inside("../../../etc/passwd")
    assert not inside("/etc/passwd")
    assert not inside("symlink-to-outside")
    assert inside("hermes-fs-as-cap/SKILL.md", "skills")
    assert not inside("../other-skill/SKILL.md", "skills")
    # Not in the seed: an absolute path inside is allowed, and so is a path that leaves the directory and
    # comes back.
    assert inside(str(root / "skills"))
    assert inside("../fs/skills")
    assert inside("dangling") and inside("symlink-inside/x") and inside("")
    assert not inside("../fs-evil")
    assert shim.ask("validate_path", path="a/../b", root=str(root))["traversal"] is True
    assert shim.ask("validate_path", path="...", root=str(root))["traversal"] is False


def test_a_loop_of_links_is_an_escape_or_an_exception_of_hermes_own(shim: Shim) -> None:
    link = shim.root / "loop"
    if not link.is_symlink():
        os.symlink("loop", link)
    verdict = shim.ask("validate_path", path="loop/x", root=str(shim.root))
    # Python up to 3.12 raises in the validator; later versions go on.
    assert verdict.get("raised") == "RuntimeError" or "inside" in verdict


# Seed 003, rule 1: its paths. The third column is the verdict of the installed Hermes.
SEED_003 = [
    ("~/.ssh/authorized_keys", True),
    ("~/.ssh/id_rsa", True),
    ("~/.hermes/config.yaml", True),  # by the check before the list
    ("~/.hermes/.env", True),
    ("/etc/sudoers", True),
    ("/etc/passwd", True),
    ("/etc/shadow", True),
    ("~/.bashrc", False),  # the seed says it is denied
    ("~/.zshrc", False),
    ("~/.netrc", True),
    ("~/.git-credentials", True),
]


def test_rule_1_of_seed_003_the_write_deny_list(shim: Shim) -> None:
    for path, denied in SEED_003:
        verdict = shim.ask("write_denied", path=path)
        assert (verdict["denied"] or verdict["sensitive"] is not None) is denied, path
    assert shim.ask("write_denied", path=str(shim.work / "a.txt")) == {"denied": False, "error": None, "sensitive": None}
    assert shim.ask("write_denied", path="/tmp/\0")["raised"] == "ValueError"


def test_every_path_of_the_real_list_is_denied(shim: Shim) -> None:
    rules = shim.ask("file_rules")
    assert len(rules["write_denied"]) >= 10 and len(rules["write_denied_prefixes"]) >= 8
    for path in rules["write_denied"]:
        assert shim.ask("write_denied", path=path)["denied"], path
    for prefix in rules["write_denied_prefixes"]:
        assert shim.ask("write_denied", path=f"{prefix}x")["denied"], prefix
    for name in rules["read_blocked_names"]:
        assert shim.ask("read_blocked", path=str(shim.work / name))["blocked"], name


def test_a_line_may_set_variables_of_hermes_for_itself_alone(shim: Shim) -> None:
    path = str(shim.work / "a.txt")
    assert shim.ask("write_denied", path=path, env={"HERMES_WRITE_SAFE_ROOT": "/var/empty"})["denied"]
    assert not shim.ask("write_denied", path=path)["denied"]


def test_reads_are_blocked_by_name_and_not_where_secrets_are(shim: Shim) -> None:
    for path, blocked in [("~/.hermes/.env", True), ("~/.hermes/auth.json", True), (".env", True), ("~/.ssh/id_rsa", False), ("/etc/shadow", False)]:
        assert shim.ask("read_blocked", path=path)["blocked"] is blocked, path


def test_rule_2_of_seed_003_other_profiles(shim: Shim) -> None:
    skill = str(shim.hermes_home / "profiles" / "other" / "skills" / "s")
    verdict = shim.ask("cross_profile", path=skill)
    assert verdict["crosses"] and verdict["target"]["target_profile"] == "other" and verdict["target"]["area"] == "skills"
    assert "cross_profile=True" in verdict["warning"]  # the model may pass it by itself
    own = str(shim.hermes_home / "profiles" / "other")
    assert not shim.ask("cross_profile", path=skill, env={"HERMES_HOME": own})["crosses"]
    assert not shim.ask("cross_profile", path=str(shim.hermes_home / "skills" / "s"))["crosses"]


def test_rule_3_of_seed_003_the_sandboxs_mirror(shim: Shim) -> None:
    verdict = shim.ask("sandbox_mirror", path="/x/sandboxes/docker/task/home/.hermes/config.yaml")
    assert verdict["mirror"] and verdict["target"]["inner_path"] == "config.yaml"
    assert not shim.ask("sandbox_mirror", path="/x/sandboxes/docker/a/b/home/.hermes/config.yaml")["mirror"]


def test_two_calls_overlap_where_one_path_is_above_the_other(shim: Shim) -> None:
    def overlap(left: str, right: str) -> bool:
        return bool(shim.ask("paths_overlap", left=left, right=right)["overlap"])

    assert overlap("a", "a") and overlap("a", "a/b") and overlap("a/b", "a") and overlap("/", "/x") and overlap("a/../b", "b")
    assert not overlap("a", "b") and not overlap("a/b", "a/c") and not overlap("a", "ab")
    # 0.17 compares names, 0.19 the files that they lead to.
    if not (shim.work / "alias").is_symlink():
        os.symlink("a", shim.work / "alias")
    assert overlap("alias/x", "a/x") is (shim.version != "0.17.0")
    assert shim.error("paths_overlap", left=" ", right="a") == "bad-input"
