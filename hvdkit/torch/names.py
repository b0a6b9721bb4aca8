"""Names of parameters: unique in one optimizer, the same on all ranks, the same with and without
torch.compile. Horovod matches tensors between ranks by name. Not for names inside checkpoints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Union

from torch import Tensor, nn

from hvdkit.errors import UsageError

__all__ = ["Models", "Names"]

Models = Union[nn.Module, Iterable[nn.Module], Mapping[str, nn.Module]]
Names = Iterable[tuple[str, Tensor]]

_COMPILED = "_orig_mod."  # torch.compile holds the module that it compiled in this attribute


def plain(name: str) -> str:
    """The name that a tensor has in the module before torch.compile."""
    return name.replace(_COMPILED, "")


def modules_by_prefix(model: Models) -> dict[str, nn.Module]:
    """The modules by a unique prefix: "" for a single one, "0.", "1." for a list, "G." for a dict's key.

    Raises UsageError when something in `model` is not a module.
    """
    if isinstance(model, nn.Module):
        return {"": model}
    pairs = model.items() if isinstance(model, Mapping) else enumerate(model)
    modules = {f"{key}.": module for key, module in pairs}
    for prefix, module in modules.items():
        if not isinstance(module, nn.Module):
            raise UsageError(
                f"expected torch.nn.Module at {prefix[:-1]!r}, found {type(module).__name__}",
                fix="pass a module, a list of modules or a dict of modules",
            )
    return modules


def parameter_names(model: Models) -> list[tuple[str, Tensor]]:
    """(name, parameter) of all modules. A parameter that several modules share keeps its first name."""
    named: dict[int, tuple[str, Tensor]] = {}
    for prefix, module in modules_by_prefix(model).items():
        for name, parameter in module.named_parameters():
            named.setdefault(id(parameter), (plain(prefix + name), parameter))
    return list(named.values())


def checked_names(named_parameters: Names) -> list[tuple[str, Tensor]]:
    """What a caller gave as `named_parameters`, as a list. Raises UsageError unless it is unique pairs."""
    named = list(named_parameters)
    if not all(isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in named):
        raise UsageError(
            "named_parameters must be pairs of a name and a parameter",
            fix="pass model.named_parameters(), or the model itself",
        )
    named = [(plain(name), parameter) for name, parameter in named]
    twice = [name for name, count in Counter(name for name, _ in named).items() if count > 1]
    if twice:
        raise UsageError(
            f"parameter names appear twice: {', '.join(sorted(twice))}",
            why="Horovod matches tensors between ranks by name",
            fix='pass the modules with a prefix each: DistributedOptimizer(optimizer, {"G": G, "D": D})',
        )
    return named
