"""HVD708: TF_CONFIG is not written any more: the launcher says who the ranks are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, only_with_strategy
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import placed
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

NAME = "TF_CONFIG"


def check(facts: Facts) -> Iterator[Finding]:
    for names in migrating_files(facts):
        if not only_with_strategy(facts, names):
            continue
        written = {}
        for target, binding in names.stores.get(f"[{NAME!r}]", ()):
            if "os.environ" in names.qualified(target):
                written[binding.node] = names.statement(binding.node)
        for node, statement in written.items():
            message = "the launcher passes each process its rank"
            yield safe(facts, "HVD708", names, node, message, _delete, facts, names, statement)
        for constant in names.texts.get(NAME, ()):
            if names.parents.get(constant) in written:
                continue
            hvd = horovod_name(facts, names)
            advice = f"use {hvd}.size() for the number of workers and {hvd}.rank() for the index"
            message = "TF_CONFIG is read here, and Horovod's launchers do not set it"
            yield manual("HVD708", names, constant, message, advice)


def _delete(facts: Facts, names: Names, statement: ast.stmt) -> list[Edit]:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise edits.CannotEdit("it is assigned in the same statement as something else")
    return placed(facts, names, statement, [edits.delete(names, statement)])


RULE = Rule(
    id="HVD708",
    title="TF_CONFIG is removed",
    what="Deletes the assignments of os.environ['TF_CONFIG'] in programs whose strategy is removed.",
    why="TF_CONFIG names the workers of a tf.distribute cluster. With Horovod horovodrun or mpirun starts the ranks.",
    safety="Safe: only tf.distribute reads it. Where the program itself reads it, that is left to you.",
    check=check,
    changes=(
        Change(
            """\
            import json
            import os
            import tensorflow as tf

            os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": ["a:1", "b:1"]}, "task": {"index": 0}})
            strategy = tf.distribute.MultiWorkerMirroredStrategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MultiWorkerMirroredStrategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import json
            import os
            import tensorflow as tf

            os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(x, y)
            """,
            reason="it is another variable",
        ),
    ),
)
