"""The lines that make weights and optimizer state those of rank 0 once the first step has created them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.rewrites.tensorflow import after
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


@dataclass(frozen=True)
class Written:
    """What is trained at a statement, as it is written there; "" for what cannot be. keras: models alone."""

    models: tuple[str, ...]
    optimizers: tuple[str, ...]
    keras: bool


def first_broadcast(facts: Facts, names: Names, statement: ast.stmt, written: Written) -> list[Edit]:
    """The broadcast below a statement. Plain Horovod's tape and broadcast take variables of Keras 2 alone."""
    hvd = horovod_name(facts, names)
    lines = [f"if {written.optimizers[0]}.iterations == 1:"]
    models = all(model.endswith(".variables") for model in written.models)
    if target_of(facts, names) == "hvdkit" and written.keras and models:
        short = [model.removesuffix(".variables") for model in written.models]
        lines += _pairs(hvd, short, written.optimizers)
    elif target_of(facts, names) == "horovod":
        sent = [*written.models, *(f"{one}.variables()" for one in written.optimizers)]
        lines += [f"\t{hvd}.broadcast_variables({each}, root_rank=0)" for each in sent]
    else:
        lines += _each(hvd, names, statement, written)
    return after(facts, names, statement, lines)


def _each(hvd: str, names: Names, statement: ast.stmt, written: Written) -> list[str]:
    """Lines that send variables one by one: Horovod's broadcast_variables takes none of Keras 3's."""
    models = [one[1:-1] if one.startswith("[") else f"*{one}" for one in written.models]
    every = ", ".join([*models, *(f"*{one}.variables" for one in written.optimizers)])
    name = "variable" if names.scope(statement).owner("variable") is None else "each_variable"
    return [f"\tfor {name} in [{every}]:", f"\t\t{name}.assign({hvd}.broadcast({name}, root_rank=0))"]


def _pairs(hvd: str, models: Sequence[str], optimizers: Sequence[str]) -> list[str]:
    """hvd.broadcast(model, optimizer) for each optimizer, or of all models for one."""
    if len(models) == len(optimizers):
        return [f"\t{hvd}.broadcast({model}, {one})" for model, one in zip(models, optimizers)]
    every = models[0] if len(models) == 1 else f"[{', '.join(models)}]"
    return [f"\t{hvd}.broadcast({every}, {one})" for one in optimizers]
