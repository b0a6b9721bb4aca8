"""The calls of Horovod in a project, and the optimizers that it wraps."""

from __future__ import annotations

import ast

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import given
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names


@once
def called(facts: Facts, *names: str, modules: tuple[str, ...] = words.EVERY_HOROVOD) -> list[Site]:
    """Calls of Horovod's functions by their short names, each once, in file order."""
    found: dict[ast.Call, Site] = {}
    for site in facts.calls(*(f"{module}.{name}" for module in modules for name in names)):
        found.setdefault(site.node, site)
    return list(found.values())


def uses_horovod(facts: Facts, program: ProgramFacts) -> bool:
    """Whether a program may call PyTorch's Horovod."""
    return any(facts.calls_in(program.files, *(f"{module}." for module in words.HOROVOD)))


def short(site: Site) -> str:
    """`allreduce` of `horovod.torch.allreduce`."""
    return site.name.rpartition(".")[2]


@dataclass(frozen=True)
class Wrapped:
    """A call of hvd.DistributedOptimizer (PyTorch): the optimizers that it may be given."""

    names: Names
    node: ast.Call
    value: Value
    given: ast.expr | None
    optimizers: frozenset[Value]


@once
def wraps(facts: Facts) -> list[Wrapped]:
    """Every optimizer that a project wraps."""
    found = []
    for site in called(facts, "DistributedOptimizer", modules=words.HOROVOD):
        optimizer = given(site.node, 0, "optimizer")
        inner = facts.flow.unwrap(facts.flow.values(site.names, optimizer))
        found.append(
            Wrapped(site.names, site.node, Value("made", site.name, site.node, site.names), optimizer, inner)
        )
    return found


def wrapped_models(facts: Facts, wrap: Wrapped) -> frozenset[Value]:
    """The models that a wrapped optimizer trains."""
    return frozenset().union(*(o.models for o in averaging_optimizers(facts) if o.value in wrap.optimizers))
