"""`dataclass` as in the standard library, but a class gets its methods when it is first used.

dataclasses writes and compiles up to six methods for each class. For the hundred classes that
`hvdkit migrate` imports, that took a third of a small file's time, which makes instances of few of them.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # type checkers know this one
else:

    def dataclass(cls: type | None = None, **options: bool) -> type | Callable[[type], type]:
        """Make a class a dataclass when its first instance is made, or its fields are asked for."""
        if cls is None:
            return lambda cls: dataclass(cls, **options)

        def __init__(self: object, *args: Any, **given: Any) -> None:  # noqa: N807 (a placeholder)
            complete()
            cls.__init__(self, *args, **given)

        def complete() -> None:
            if cls.__dict__.get("__init__") is __init__:
                del cls.__init__  # dataclasses keeps one that is there
                dataclasses.dataclass(cls, **options)

        cls.__init__ = __init__
        cls.__dataclass_fields__ = _Fields(cls, complete)
        return cls


class _Fields:
    """The fields of a class until it is complete; a dataclass that inherits from it asks for them, too."""

    def __init__(self, cls: type, complete: Callable[[], None]) -> None:
        self._cls, self._complete = cls, complete

    def __get__(self, instance: object, owner: type) -> dict[str, dataclasses.Field[Any]]:
        self._complete()
        fields: dict[str, dataclasses.Field[Any]] = self._cls.__dict__["__dataclass_fields__"]
        return fields
