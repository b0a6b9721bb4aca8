"""HVD704: strategy.run(step, args=(x,)) becomes step(x)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras.strategies import Use
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import keyword
from hvdkit.source.edits import Edit


def check(facts: Facts) -> Iterator[Finding]:
    for use in mirrored_strategies(facts).of("run", "experimental_run_v2"):
        message = "each rank is one replica, and runs the step itself"
        yield required(facts, "HVD704", use.names, use.node, message, _edit, use)


def _edit(use: Use) -> list[Edit]:
    names, call = use.names, use.call
    assert call is not None
    function = keyword(call, "fn") or (call.args[0] if call.args else None)
    args = keyword(call, "args") or (call.args[1] if len(call.args) > 1 else None)
    kwargs = keyword(call, "kwargs") or (call.args[2] if len(call.args) > 2 else None)
    if function is None or any(isinstance(a, ast.Starred) for a in call.args) or keyword(call, "options"):
        raise edits.CannotEdit("its arguments cannot be distinguished")
    head: list[str | ast.expr] = (
        ["(", function, ")("] if isinstance(function, ast.Lambda) else [function, "("]
    )
    parts = [*head]
    for position, (part, stars) in enumerate(_arguments(args, kwargs)):
        parts += [", " * bool(position) + stars, part]
    return edits.recast(names.source, call, [*parts, ")"])


def _arguments(args: ast.expr | None, kwargs: ast.expr | None) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(args, (ast.Tuple, ast.List)):
        for element in args.elts:
            yield element, ""
    elif args is not None:
        yield args, "*"
    if kwargs is not None:
        yield kwargs, "**"


RULE = Rule(
    id="HVD704",
    title="strategy.run calls the step",
    what="Rewrites strategy.run(step, args=(x,), kwargs=k) as step(x, **k).",
    why="strategy.run runs a step once per replica of the process. A rank is one replica.",
    safety="Safe: it is what strategy.run does with one replica. HVD705 rewrites the use of the replicas' values.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

            @tf.function
            def distributed(x, y):
                return strategy.run(step, args=(x, y))

            for x, y in data:
                distributed(x, y)
            """,
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()

            def step(x, y):
                with tf.GradientTape() as tape:
                    loss = model(x)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))

            @tf.function
            def distributed(x, y):
                return step(x, y)

            for x, y in data:
                distributed(x, y)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import subprocess
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            subprocess.run(["ls"])
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.fit(data)
            """,
            reason="run is subprocess's",
        ),
    ),
)
