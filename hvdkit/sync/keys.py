"""What an optimizer is called on all ranks alike."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary


class Keys:
    """The same on all ranks for one optimizer of the job, whatever else each rank trains for itself."""

    def __init__(self) -> None:
        self._keys: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
        self._alike: Counter[str] = Counter()

    def of(self, optimizer: Any, shapes: Callable[[], object]) -> str:
        """shapes: what tells optimizers of one class apart: of what it trains, and on which ranks."""
        if optimizer not in self._keys:
            digest = hashlib.sha256(str(shapes()).encode()).hexdigest()[:16]
            alike = f"{type(optimizer).__name__} {digest}"
            self._keys[optimizer] = f"{alike} {self._alike[alike]}"
            self._alike[alike] += 1
        return self._keys[optimizer]
