"""Note the calls of a library's function or method, which runs as before."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def before_call(owner: Any, name: str, tell: Callable[[], None]) -> None:
    """Call `tell` before each call of a function of a module, or a method of a class."""
    original = getattr(owner, name)

    @functools.wraps(original)
    def told(*args: Any, **kwargs: Any) -> Any:
        tell()
        return original(*args, **kwargs)

    setattr(owner, name, told)
