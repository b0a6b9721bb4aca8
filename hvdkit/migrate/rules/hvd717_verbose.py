"""HVD717: one progress bar per job."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import is_migrating
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

METHODS = ("fit", "fit_generator", "evaluate", "predict")
MESSAGE = "rank 0 shows the progress"


def check(facts: Facts) -> Iterator[Finding]:
    for call in keras_calls(facts):
        if call.method not in METHODS or not is_migrating(facts, call) or call.spread:
            continue
        names, given = call.names, call.argument("verbose")
        if given is None:
            text, source = f"verbose={_default(facts, names)}", names.source
            yield safe(
                facts, "HVD717", names, call.node, MESSAGE, edits.add_arguments, source, call.node, [text]
            )
        elif not _by_rank(facts, names, given) and not (isinstance(given, ast.Constant) and given.value == 0):
            yield safe(facts, "HVD717", names, given, MESSAGE, _edit, facts, names, given)


def _by_rank(facts: Facts, names: Names, given: ast.expr) -> bool:
    asked = isinstance(given, ast.Call) and any(n.endswith(".verbose") for n in names.qualified(given.func))
    return asked or rank_kinds(facts).inside(names, given)


def _default(facts: Facts, names: Names) -> str:
    hvd = horovod_name(facts, names)
    return f"1 if {hvd}.rank() == 0 else 0" if target_of(facts, names) == "horovod" else f"{hvd}.verbose()"


def _edit(facts: Facts, names: Names, given: ast.expr) -> list[Edit]:
    if target_of(facts, names) == "hvdkit":
        return edits.wrap(names.source, given, f"{horovod_name(facts, names)}.verbose(", ")")
    return edits.appended(names.source, given, f" if {horovod_name(facts, names)}.rank() == 0 else 0")


RULE = Rule(
    id="HVD717",
    title="progress on rank 0",
    what="Sets verbose of fit, evaluate and predict to 0 on all ranks but rank 0.",
    why="Every rank would draw its progress bar over the others'.",
    safety="Safe: verbose computes nothing.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=3, verbose=1 if hvd.rank() == 0 else 0)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, verbose=0)
            """,
            reason="verbose is already 0",
        ),
    ),
)
