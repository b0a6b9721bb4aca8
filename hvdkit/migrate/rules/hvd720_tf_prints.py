"""HVD720: a TensorFlow script that was one process prints once, not once per rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.files.writers import needed_everywhere
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, only_started
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.starting import runs_started
from hvdkit.migrate.rewrites.tensorflow import guard
from hvdkit.source.index.names import Names

# Methods that all ranks have to run together.
TOGETHER = frozenset(("fit", "fit_generator", "train_on_batch", "run", "reduce", "gather", "apply_gradients"))


def check(facts: Facts) -> Iterator[Finding]:
    for names in migrating_files(facts):
        if not only_started(facts, names):
            continue
        prints = [
            names.statement(call) for call in names.calls.get("print", ()) if _prints(facts, names, call)
        ]
        # One that reads a metric stands alone: HVD719 puts a reduction above it, which all ranks run.
        reading = [statement for statement in prints if _reads_metric(statement)]
        rows = [*edits.rows(names, [s for s in prints if s not in reading]), *([s] for s in reading)]
        for row in sorted(rows, key=lambda row: row[0].lineno):
            condition = f"{horovod_name(facts, names)}.rank() == 0"
            message = "printed by rank 0 only"
            yield safe(facts, "HVD720", names, row[0], message, guard, facts, names, row, condition)


def _prints(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is a plain print or tf.print, after Horovod's start, that every rank would run."""
    statement = names.statement(call)
    whole = isinstance(statement, ast.Expr) and statement.value is call
    builtin = isinstance(call.func, ast.Name) and not names.bindings("print", call)
    own = builtin or "tensorflow.print" in facts.flow.qualified(names, call.func)
    if not whole or not own or any(_is_together(part) for part in ast.walk(call)):
        return False
    if names.function(call) is None and not runs_started(facts, names, call):
        return False
    return not needed_everywhere(facts, names, call) and where_runs(facts, names, call) is Where.ALL


def _reads_metric(statement: ast.stmt) -> bool:
    return any(
        isinstance(n, ast.Call) and getattr(n.func, "attr", "") == "result" for n in ast.walk(statement)
    )


def _is_together(node: ast.AST) -> bool:
    """Whether a node is a call that all ranks have to run together, before the migration or after it."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    return node.func.attr in TOGETHER or node.func.attr.startswith("all")


RULE = Rule(
    id="HVD720",
    title="TensorFlow scripts print once",
    what="Puts a plain print, or tf.print, of a single-process script under `if hvd.rank() == 0:`.",
    why="Each line would be printed once per rank.",
    safety=(
        "Safe: a print computes nothing. One whose arguments train, reduce or run the script's own "
        "functions stays: all ranks may have to run those."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            print("trained")
            print(len(data))
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            if hvd.rank() == 0:
                print("trained")
                print(len(data))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data)
            log.print('trained')
            """,
            reason="it is a method of the script's own",
        ),
    ),
)
