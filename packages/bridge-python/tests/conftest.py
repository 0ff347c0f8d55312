"""Every test is a coroutine in a loop of its own, and leaves nothing there: no task, no timer of ours, no connection."""

from __future__ import annotations

import asyncio
import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    asyncio.run(_alone(pyfuncitem.obj, {name: pyfuncitem.funcargs[name] for name in names}))
    return True


async def _alone(test: Any, args: dict[str, Any]) -> None:
    async with asyncio.timeout(30):
        await test(**args)
    for _ in range(5):
        await asyncio.sleep(0)
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not left, f"tasks are left: {left}"
