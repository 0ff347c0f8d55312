"""The test vector of the document that Hob came from, word for word, against a real host. The expected result
stands beside each line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hob
import pytest
from hob import approve, approve_for, approve_once, approve_session, delegate
from host_process import HostProcess, needs_node

pytestmark = needs_node

dangerous_op = "dangerous-op"
args = "rm -rf /"


@pytest.fixture
def approving(host: HostProcess) -> Iterator[None]:
    id_, secret = host.session()
    with (
        hob.sync.connect_granter(host.url, host.granter_secret) as granter,
        hob.sync.connect(host.url, secret) as session,
        hob.approving(granter, session, id_),
    ):
        yield
    host.do("ran")


def test_approve_once(host: HostProcess, approving: None) -> None:
    cap = approve_once(dangerous_op)
    assert cap.invoke(args) == "ok"
    with pytest.raises(hob.Exhausted):
        cap.invoke(args)
    assert host.do("ran") == [args]


def test_approve_session(host: HostProcess, approving: None) -> None:
    cap, revoke = approve_session(dangerous_op)
    assert cap.invoke(args) == "ok"
    revoke()
    with pytest.raises(hob.Revoked):
        cap.invoke(args)
    assert host.do("ran") == [args]


def test_approve_for(host: HostProcess, approving: None) -> None:
    def sleep(seconds: float) -> None:
        host.do("sleep", seconds)

    cap = approve_for(dangerous_op, seconds=60)
    assert cap.invoke(args) == "ok"
    with pytest.raises(hob.Expired):
        sleep(61); cap.invoke(args)  # noqa: E702  (as it is written there)
    assert host.do("ran") == [args]


def test_delegation(host: HostProcess, approving: None) -> None:
    child = "child"
    parent_cap = approve(dangerous_op)
    empty = delegate.spawn(child, caps=[])
    assert empty.caps() == []
    with pytest.raises(hob.NoSuchObject):
        empty[dangerous_op].invoke(args)
    holder = delegate.spawn(child, caps=[parent_cap])
    assert holder.caps() == [dangerous_op]
    assert holder[dangerous_op].invoke(args) == "ok"
    # A child loses what its parent loses.
    _, revoke = parent_cap
    revoke()  # type: ignore[operator]
    with pytest.raises(hob.Revoked):
        holder[dangerous_op].invoke(args)
    for session in (empty, holder):
        session.close()
    assert host.do("ran") == [args]


def test_a_string_is_not_an_approval(host: HostProcess, approving: None) -> None:
    """The five failures that Hob closes. There is no pattern to evade: a cap that is not held cannot be
    called, whatever is written."""
    cap = approve_once(dangerous_op)
    for evasion in ("r''m -rf /", "ｒｍ -rf /", "xargs rm"):  # noqa: RUF001
        try:
            cap.invoke(evasion)
        except hob.CapError as error:
            assert error.code == "exhausted"
    assert len(host.do("ran")) == 1


def test_an_approval_without_a_session_fails(host: HostProcess) -> None:
    with pytest.raises(hob.Invalid):
        approve_once(dangerous_op)


def test_approvals_are_separate(host: HostProcess, approving: None) -> None:
    """Two approvals of one offer are two caps, and each ends by itself."""
    first, end_first = approve_session(dangerous_op)
    second: Any = approve_session(dangerous_op)
    end_first()  # type: ignore[operator]
    with pytest.raises(hob.Revoked):
        first.invoke(args)
    assert second.invoke(args) == "ok"
    host.do("ran")
