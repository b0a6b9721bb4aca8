"""HVD719: a metric that a strategy's replicas counted together is averaged over the ranks where it is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies, only_with_strategy
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import before
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

METRICS = "keras.metrics."
# Metrics that are means over samples: over ranks with as many samples their mean is that of the whole.
MEANS = ("Accuracy", "Mean", "MeanSquaredError", "MeanAbsoluteError", "Crossentropy", "MeanTensor", "Hinge")
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign)


def check(facts: Facts) -> Iterator[Finding]:
    if not mirrored_strategies(facts).of("run", "experimental_run_v2"):
        return
    rows: dict[ast.stmt, list[tuple[Names, ast.Call]]] = {}
    for names, call, receiver in facts.methods("result"):
        made = {name for name in facts.flow.made(names, receiver) if name.startswith(METRICS)}
        if not made or not only_with_strategy(facts, names) or call.args or call.keywords:
            continue
        statement = names.statement(call)
        hvd = horovod_name(facts, names)
        advice = f"average it on all ranks: {hvd}.allreduce(metric.result(), op={hvd}.Average), outside any test of the rank"
        if not all(name.endswith(MEANS) for name in made):
            message = (
                "each rank has counted its own share, and this metric is not a mean that could be averaged"
            )
            yield manual("HVD719", names, call, message, f"count it on all of the data, or {advice}")
        elif _averaged(facts, names, call):
            continue
        elif (
            not isinstance(statement, SIMPLE)
            or where_runs(facts, names, call) is not Where.ALL
            or _later(names, call)
        ):
            message = "each rank has counted its own share, and this statement may not run on all ranks"
            yield manual("HVD719", names, call, message, advice)
        else:
            rows.setdefault(statement, []).append((names, call))
    for statement, calls in rows.items():
        names = calls[0][0]
        message = "each rank has counted its own share: the mean over ranks is that of the whole"
        yield safe(
            facts, "HVD719", names, statement, message, _edit, facts, names, statement, [c for _, c in calls]
        )


def _averaged(facts: Facts, names: Names, call: ast.Call) -> bool:
    parent = names.parents[call]
    return isinstance(parent, ast.Call) and getattr(parent.func, "attr", "") in ("allreduce", "average")


def _later(names: Names, call: ast.Call) -> bool:
    """Whether a call runs another number of times than its statement: in a lambda, comprehension or condition."""
    later = (ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.IfExp, ast.BoolOp)
    for parent in names.ancestors(call):
        if isinstance(parent, later):
            return True
        if isinstance(parent, ast.stmt):
            return False
    return False


def _edit(facts: Facts, names: Names, statement: ast.stmt, calls: list[ast.Call]) -> list[Edit]:
    metrics: dict[str, str] = {}
    made: list[Edit] = []
    hvd = horovod_name(facts, names)
    for call in calls:
        metric = call.func.value if isinstance(call.func, ast.Attribute) else call
        text = names.source.segment(metric)
        variable = f"{_stem(metric)}_of_all"
        if not variable.isidentifier() or variable in names.uses or metrics.get(variable, text) != text:
            raise edits.CannotEdit("no name for its mean was found")
        metrics[variable] = text
        made.append(edits.replace(names.source, call, variable))
    lines = [
        f"{variable} = {hvd}.allreduce({text}.result(), op={hvd}.Average)"
        for variable, text in metrics.items()
    ]
    return [*before(facts, names, statement, lines), *made]


def _stem(metric: ast.expr) -> str:
    """What a metric is called last: accuracy of `self.accuracy`, of `metrics["accuracy"]`, m of `metrics[m]`."""
    if isinstance(metric, ast.Subscript):
        return _stem(metric.slice)
    if isinstance(metric, ast.Constant):
        return str(metric.value)
    return metric.attr if isinstance(metric, ast.Attribute) else getattr(metric, "id", "")


RULE = Rule(
    id="HVD719",
    title="metrics of all ranks",
    what=(
        "Where a program ran its steps under a strategy and reads metric.result(), puts the mean over the "
        "ranks in a variable above the statement and reads that."
    ),
    why="Under a strategy the replicas count one metric together. Each rank counts its own share of the data.",
    safety=(
        "Safe for metrics that are means: all ranks have as many samples. The reduction is a "
        "separate statement, which all ranks run, so that the print below it can be rank 0's. Others "
        "(AUC, Precision) are left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

            def step(x, y):
                with tf.GradientTape() as tape:
                    out = model(x)
                    loss = f(out, y)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                accuracy.update_state(y, out)

            for x, y in data:
                strategy.run(step, args=(x, y))
            print("accuracy", 100 * accuracy.result())
            accuracy.reset_state()
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

            def step(x, y):
                with tf.GradientTape() as tape:
                    out = model(x)
                    loss = f(out, y)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                accuracy.update_state(y, out)

            for x, y in data:
                strategy.run(step, args=(x, y))
            accuracy_of_all = hvd.allreduce(accuracy.result(), op=hvd.Average)
            print("accuracy", 100 * accuracy_of_all)
            accuracy.reset_state()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            strategy = tf.distribute.MirroredStrategy()
            accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

            def step(x, y):
                with tf.GradientTape() as tape:
                    out = model(x)
                    loss = f(out, y)
                optimizer.apply_gradients(zip(tape.gradient(loss, model.variables), model.variables))
                accuracy.update_state(y, out)

            for x, y in data:
                strategy.run(step, args=(x, y))
            value = hvd.allreduce(accuracy.result(), op=hvd.Average)
            """,
            reason="it is averaged already",
        ),
    ),
)
