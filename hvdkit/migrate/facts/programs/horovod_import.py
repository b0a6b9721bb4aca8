"""The module of Horovod that a migrated file imports, and the name that it has there."""

from __future__ import annotations

from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as tensorflow
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.tensorflow_programs import tensorflow_module
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names


@once
def horovod_name(facts: Facts, names: Names) -> str:
    """The name under which a file has, or will have, Horovod."""
    tf = kinds_of(facts, names) & set(tensorflow.KINDS)
    for module in tensorflow.MODULES if tf else words.HOROVOD:
        for name, bindings in names.module.names.items():
            if any(b.kind == "import" and b.qualified == module for b in bindings):
                return name
    return (
        "hvd"
        if "hvd" not in names.uses and "hvd" not in names.module.names
        else ("horovod_tensorflow" if tf else "horovod_torch")
    )


def horovod_module(facts: Facts, names: Names) -> str:
    """The module that a migrated file imports."""
    if kinds_of(facts, names) & set(tensorflow.KINDS):
        return tensorflow_module(facts, names)
    return "horovod.torch" if facts.options.target == "horovod" else "hvdkit.torch"
