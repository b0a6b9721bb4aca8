"""Call a function once a named module has been imported, whoever imports it and whenever."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from hvdkit.collecting import uncollected

Callback = Callable[[], None]


class AfterImport(MetaPathFinder):
    """Finds a named module as Python would, and calls back when its body has run."""

    def __init__(self, callbacks: dict[str, Callback]) -> None:
        self.waiting = dict(callbacks)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's own spec, its loader told to call back; None for every other module."""
        if fullname not in self.waiting:
            return None
        callback = self.waiting.pop(fullname)  # first, so that the search below passes us by
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        run_body = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            with uncollected():
                run_body(module)
            callback()

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(callbacks: dict[str, Callback]) -> None:
    """Register module name -> callback; a module that is already imported is called back at once."""
    loaded = {name: callback for name, callback in callbacks.items() if name in sys.modules}
    sys.meta_path.insert(0, AfterImport({k: v for k, v in callbacks.items() if k not in loaded}))
    for callback in loaded.values():
        callback()
