"""HVD703: the body of `with strategy.scope():` moves out; variables are made as anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.edits.unnesting import drop_item
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.strategies import Use
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("scope"):
        message = "variables need no scope: every rank has its own copy of the model"
        yield required(facts, "HVD703", use.names, use.node, message, _edit, use)


def _edit(use: Use) -> list[Edit]:
    names, call = use.names, use.call
    item = names.parents[call] if call is not None else None
    statement = names.parents[item] if isinstance(item, ast.withitem) else None
    if not isinstance(item, ast.withitem) or not isinstance(statement, ast.With) or item.optional_vars:
        raise edits.CannotEdit("the scope is not entered by a plain `with` statement")
    return drop_item(names, statement, item)


RULE = Rule(
    id="HVD703",
    title="strategy scopes are removed",
    what="Removes `with strategy.scope():` and dedents its body.",
    why="The scope makes mirrored variables, one copy per device of the process. A rank has one device.",
    safety=(
        "Safe: outside a strategy the scope does nothing. A multi-line string in the body would change with "
        "its indentation: the program is then left as it is."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            with strategy.scope():
                # the model
                model = tf.keras.Sequential(
                    [tf.keras.layers.Dense(1)]
                )

                model.compile(loss="mse")
            model.fit(data)
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            # the model
            model = tf.keras.Sequential(
                [tf.keras.layers.Dense(1)]
            )

            model.compile(loss="mse")
            model.fit(data)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.get_strategy()
            with strategy.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            reason="the scope of the default strategy does nothing",
        ),
    ),
)
