"""Every test is a coroutine in a loop of its own, and leaves no task, timer or connection there."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

# Random data is the same each time, as in `test/chance.ts`. `HOB_SEED=any` makes other data.
settings.register_profile("same", derandomize=True, database=None)
settings.load_profile("default" if os.environ.get("HOB_SEED") else "same")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(_alone(pyfuncitem.obj, {name: pyfuncitem.funcargs[name] for name in names}))
    return True


async def _alone(test: Any, args: dict[str, Any]) -> None:
    # For tests that hang. A slow test passes, because the machine may be busy.
    async with asyncio.timeout(120):
        await test(**args)
    for _ in range(5):
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not left, f"tasks are left: {left}"


class Counts:
    """Writes `{passed, failed, skips}` as JSON to `HOB_TEST_REPORT`, for `npm test`. A skip without a reason
    is a failure."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.passed = 0
        self.failed = 0
        self.skips: list[dict[str, str]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed += 1
        elif report.skipped:
            reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
            file, _, name = report.nodeid.partition("::")
            if reason in ("", "unconditional skip"):
                self.failed += 1
            else:
                path = f"packages/bridge-python/{file}"
                self.skips.append({"file": path, "name": name, "reason": reason, "regime": "python"})
        elif report.when == "call":
            self.passed += 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.failed += report.failed

    def pytest_sessionfinish(self) -> None:
        counts = {"passed": self.passed, "failed": self.failed, "skips": self.skips}
        Path(self.file).write_text(json.dumps(counts))


def pytest_configure(config: pytest.Config) -> None:
    report = os.environ.get("HOB_TEST_REPORT")
    if report:
        config.pluginmanager.register(Counts(report))


@pytest.fixture(scope="module")
def host() -> Any:
    """A host, for the tests of one file."""
    from host_process import HostProcess

    made = HostProcess()
    yield made
    made.close()


@pytest.fixture(scope="session")
def world() -> Any:
    """The real Hermes, with the plugin, a model and a host."""
    from hermes_world import made

    yield from made()
