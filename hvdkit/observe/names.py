"""Names for the tensors of an optimizer: those of the module that holds them, found from outside the script.

`module.` (DistributedDataParallel, DataParallel) and `_orig_mod.` (torch.compile) are left out, so that
both runs use the same names.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch

WRAPPERS = ("module", "_orig_mod")


def optimizer_parameters(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The parameters of all groups, in their order."""
    return [parameter for group in optimizer.param_groups for parameter in group["params"]]


def models_of(
    optimizer: torch.optim.Optimizer, modules: Iterable[torch.nn.Module] | None = None
) -> list[torch.nn.Module]:
    """The fewest and smallest modules that together hold the optimizer's parameters.

    A wrapper holds the same parameters as the model inside it; the innermost is taken. modules: where to
    look; all of the process where that is not known.
    """
    wanted = {id(parameter): place for place, parameter in enumerate(optimizer_parameters(optimizer))}
    held = []
    for module in all_modules() if modules is None else modules:
        inside = {id(parameter) for parameter in module.parameters()}
        used = inside & wanted.keys()
        if used:
            first = min(wanted[parameter] for parameter in used)
            held.append(((-len(used), len(inside), sum(1 for _ in module.modules()), first), used, module))
    found: list[torch.nn.Module] = []
    left = set(wanted)
    for _, used, module in sorted(held, key=lambda entry: entry[0]):
        if used & left:
            found.append(module)
            left -= used
    return found


def untrained_modules(
    trained: set[int], models: list[torch.nn.Module], modules: Iterable[torch.nn.Module]
) -> list[torch.nn.Module]:
    """The outermost modules that hold tensors, none of them trained: an average of the weights, a teacher.

    trained: ids of every optimizer's parameters. models: their modules, which are recorded already. modules:
    all. Sorted by class and shapes, so that both runs give them the same places.
    """
    inside = {id(part) for model in models for part in model.modules()}
    apart = [
        module
        for module in modules
        if id(module) not in inside
        and _tensors(module)
        and not trained & {id(p) for p in module.parameters()}
    ]
    held = {id(part) for module in apart for part in module.modules() if part is not module}
    return sorted((module for module in apart if id(module) not in held), key=_signature)


def _tensors(module: torch.nn.Module) -> list[torch.Tensor]:
    return [*module.parameters(), *module.buffers()]


def _signature(module: torch.nn.Module) -> tuple[str, str]:
    return type(module).__name__, str([tuple(tensor.shape) for tensor in _tensors(module)])


def all_modules() -> Iterator[torch.nn.Module]:
    """Every module of the process, by a look at all of its objects."""
    for candidate in gc.get_objects():
        # By type, not isinstance(): a lazy proxy's __class__ may run code.
        if issubclass(type(candidate), torch.nn.Module):
            yield candidate


def around(models: list[torch.nn.Module], modules: Iterable[torch.nn.Module]) -> Named:
    """What modules that hold one of the models have themselves, beside it: features, a mask, a mean."""
    held = {id(model) for model in models}
    inside = {id(part) for model in models for part in model.modules()}
    parameters: list[tuple[str, torch.Tensor]] = []
    buffers: list[tuple[str, torch.Tensor]] = []
    counts: Counter[str] = Counter()
    for module in modules:
        if id(module) in inside or not any(id(part) in held for part in module.modules()):
            continue
        kind = type(module).__name__
        place = f"{kind}[{counts[kind]}]" if counts[kind] else kind
        own = [
            *(
                (f"{place}.{name}", tensor, parameters)
                for name, tensor in module.named_parameters(recurse=False)
            ),
            *((f"{place}.{name}", tensor, buffers) for name, tensor in module.named_buffers(recurse=False)),
        ]
        counts[kind] += bool(own)
        for name, tensor, kept in own:
            kept.append((name, tensor))
    return Named(tuple(parameters), tuple(buffers))


def plain(name: str) -> str:
    """A parameter's name without the parts that wrappers add."""
    return ".".join(part for part in name.split(".") if part not in WRAPPERS)


@dataclass(frozen=True)
class Named:
    """The tensors of the models behind one optimizer, each with its name."""

    parameters: tuple[tuple[str, torch.Tensor], ...]
    buffers: tuple[tuple[str, torch.Tensor], ...]

    def __add__(self, other: Named) -> Named:
        return Named(self.parameters + other.parameters, self.buffers + other.buffers)


def named_tensors(models: list[torch.nn.Module], always_prefixed: bool = False) -> Named:
    """Names of everything in the models' state; with several models the model goes in front: Encoder[0]."""
    parameters: list[tuple[str, torch.Tensor]] = []
    buffers: list[tuple[str, torch.Tensor]] = []
    for place, model in enumerate(models):
        prefix = f"{type(model).__name__}[{place}]." if len(models) > 1 or always_prefixed else ""
        parameters += [(prefix + plain(name), tensor) for name, tensor in model.named_parameters()]
        buffers += [(prefix + plain(name), tensor) for name, tensor in model.named_buffers()]
    return Named(tuple(parameters), tuple(buffers))
