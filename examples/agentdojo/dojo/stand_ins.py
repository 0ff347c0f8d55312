"""Lets AgentDojo be imported without the SDKs of models, which it imports at the top and this run never uses.

A stand-in is a module whose every name is a class. It can be imported and named in a type hint. Whoever makes an
object of it gets an error.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence
from typing import Any

LEFT_OUT = frozenset(
    {"anthropic", "cohere", "google", "langchain", "openai", "requests", "torch", "transformers", "vertexai"}
)


class _Named(type):
    """A class whose every attribute is such a class too, and which takes part in `X | None` and `X[Y]`."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _named(f"{cls.__name__}.{name}")

    def __getitem__(cls, _of: Any) -> Any:
        return cls

    def __call__(cls, *_args: Any, **_named: Any) -> Any:
        raise RuntimeError(f"{cls.__name__} is not installed: no model runs here")


def _named(name: str) -> Any:
    return type.__call__(_Named, name, (Exception,), {})


class StandIn(types.ModuleType):
    """A module that is not installed."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _named(f"{self.__name__}.{name}")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname.partition(".")[0] in LEFT_OUT:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return StandIn(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def install() -> None:
    """Puts the stand-ins after everything that is really installed."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.append(_Finder())
