"""HVD703: the body of `with strategy.scope():` moves out; variables are made as anywhere."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.tensorflow.strategies import Use
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for use in facts.tf.strategies.of("scope"):
        message = "variables need no scope: every rank has its own copy of the model"
        yield facts.required("HVD703", use.names, use.node, message, _edit, use)


def _edit(use: Use) -> list[Edit]:
    names, call = use.names, use.call
    item = names.parents[call] if call is not None else None
    statement = names.parents[item] if isinstance(item, ast.withitem) else None
    if not isinstance(item, ast.withitem) or not isinstance(statement, ast.With) or item.optional_vars:
        raise edits.CannotEdit("the scope is not entered by a plain `with` statement")
    return edits.drop_item(names, statement, item)


RULE = Rule(
    id="HVD703",
    title="strategy scopes are opened",
    what="Takes `with strategy.scope():` away and moves its body one level out.",
    why="The scope makes mirrored variables, one copy per device of the process. A rank has one device.",
    safety=(
        "Safe: outside a strategy the scope does nothing. A string over several lines in the body would change with "
        "its indentation: then the program is left as it was."
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
        Change(
            """\
            import tensorflow as tf

            def main(data):
                strategy = tf.distribute.MirroredStrategy()
                with tf.device("/cpu:0"), strategy.scope():
                    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.fit(data)
            """,
            """\
            import tensorflow as tf

            def main(data):
                strategy = tf.distribute.MirroredStrategy()
                with tf.device("/cpu:0"):
                    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.fit(data)
            """,
        ),
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                def build():
                    if wide:
                        return tf.keras.Sequential([tf.keras.layers.Dense(10)])
                    return tf.keras.Sequential([tf.keras.layers.Dense(1)])
                with strategy.scope():
                    model = build()
            model.fit(data)
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            def build():
                if wide:
                    return tf.keras.Sequential([tf.keras.layers.Dense(10)])
                return tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model = build()
            model.fit(data)
            """,
        ),
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope(), tf.name_scope("model"):
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with tf.name_scope("model"):
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            note="The scope beside another context.",
        ),
    ),
    keeps=(
        Keep(
            '''\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope():
                text = """one
                two"""
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            ''',
            reason="moving the body out would change the string",
            reported=True,
        ),
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
        Keep(
            """\
            import tensorflow as tf

            with tf.name_scope("net"), session.scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(x, y)
            """,
            reason="it is another object's scope",
        ),
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with strategy.scope() as scope:
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            reason="the scope has a name",
            reported=True,
        ),
        Keep(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            with (
                strategy.scope(),  # all variables
                tf.name_scope("model"),
            ):
                model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
                model.compile("sgd", "mse")
            model.fit(x, y)
            """,
            reason="a comment stands between the contexts",
            reported=True,
        ),
    ),
)
