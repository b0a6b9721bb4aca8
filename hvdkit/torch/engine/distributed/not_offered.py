"""What Horovod has and torch.distributed has not, refused by name where it is used."""

from __future__ import annotations

from typing import Any, NoReturn

from hvdkit.errors import HvdkitError

_HOROVOD = "run on Horovod: `hvdkit install-horovod`, and HVDKIT_ENGINE unset or horovod"


class NotOfferedError(HvdkitError):
    """The script uses a part of Horovod that the engine on torch.distributed does not have."""


def refuse(name: str, instead: str) -> NoReturn:
    """Raises NotOfferedError. instead: what does the same without Horovod."""
    raise NotOfferedError(
        f"{name} is not offered on torch.distributed",
        why="only Horovod implements it",
        fix=f"{instead}, or {_HOROVOD}",
    )


class NotOffered:
    """Stands for a function, a class or a module: it can be imported, and refuses to be used."""

    def __init__(self, name: str, instead: str) -> None:
        self._name = name
        self._instead = instead

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Raises NotOfferedError."""
        refuse(self._name, self._instead)

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # asked by copy, inspect and the like, and by no script
            raise AttributeError(attribute)
        refuse(f"{self._name}.{attribute}", self._instead)
