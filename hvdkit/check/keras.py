"""What a Keras program gives its fit(): callbacks, and where they come from."""

from __future__ import annotations

import ast

from hvdkit.check.horovod import calls_in, programs
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Site
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values import vocabulary as words
from hvdkit.source.index.names import Names

KERAS = ("tensorflow.keras", "keras", "tensorflow.python.keras", "tf_keras")
# What is only there where Keras 2 is: its package, the switch that asks for it, what Keras 3 has no more.
KERAS_2 = (
    "TF_USE_LEGACY_KERAS",
    "tf_keras",
    "experimental_run_tf_function",
    "get_scaled_loss",
    "get_unscaled_gradients",
)
# hvdkit's own list of callbacks: it adds Horovod's, and leaves on rank 0 alone what writes.
ARRANGED = ("hvdkit.tensorflow.keras.callbacks", "hvdkit.keras.callbacks")


def keras_programs(facts: Facts) -> list[ProgramFacts]:
    """The programs that train a Keras model or a tape with Horovod."""
    wrappers = ("DistributedOptimizer", "DistributedGradientTape")
    return [
        program
        for program in programs(facts)
        if any(site.name.startswith(words.HOROVOD_TENSORFLOW) for site in calls_in(facts, program, *wrappers))
    ]


@once
def keras_files(facts: Facts) -> frozenset[Names]:
    """The files of those programs."""
    return frozenset().union(*(program.files for program in keras_programs(facts)))


def callbacks(facts: Facts, program: ProgramFacts, *kinds: str) -> list[Site]:
    """Keras callbacks of some kinds that a program certainly uses: they stand in a list, or join one.

    None where hvdkit arranges them.
    """
    if any(site.names in program.files for site in facts.calls(*ARRANGED)):
        return []
    wanted = [f"{module}.callbacks.{kind}" for module in KERAS for kind in kinds]
    return [
        site for site in facts.calls(*wanted) if site.names in program.files and listed(site.names, site.node)
    ]


def listed(names: Names, node: ast.expr) -> list[ast.expr]:
    """The places where an expression goes into a list: itself, or uses of the variable that holds it."""
    if _in_list(names, node):
        return [node]
    statement = names.parents.get(node)
    assigned = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(assigned, ast.Name):
        return []
    owner = names.scope(assigned).owner(assigned.id)
    uses = [use for use in names.uses[assigned.id] if names.scope(use).owner(use.id) is owner]
    return [use for use in uses if _in_list(names, use)]


def _in_list(names: Names, node: ast.AST) -> bool:
    parent = names.parents.get(node)
    if isinstance(parent, ast.Call):
        return getattr(parent.func, "attr", "") == "append"
    return isinstance(parent, ast.List)
