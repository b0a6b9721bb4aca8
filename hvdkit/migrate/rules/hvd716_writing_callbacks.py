"""HVD716: callbacks that write files live on rank 0."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import guard
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

LIST_RULE = "HVD715"
MESSAGE = "rank 0 writes these files; the weights are the same on all ranks"


def check(facts: Facts) -> Iterator[Finding]:
    for names, call in _made(facts):
        if target_of(facts, names) == "hvdkit":
            continue  # hvd.callbacks does it (HVD715)
        if where_runs(facts, names, call) is Where.ALL:
            yield from _placed(facts, names, call)
    for site in facts.calls(words.BACKUP):
        if site.names in migrating_files(facts) and not rank_kinds(facts).inside(site.names, site.node):
            advice = (
                "keep a ModelCheckpoint; to resume, load it on all ranks and give fit the same initial_epoch"
            )
            message = "every rank would write this backup, and every rank has to read one to resume from the same epoch"
            yield manual("HVD716", site.names, site.node, message, advice)


def _made(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Constructions of callbacks that write, and of the project's own subclasses of them."""
    for site in facts.calls(*words.WRITING_CALLBACKS):
        if site.names in migrating_files(facts):
            yield site.names, site.node
    for names in migrating_files(facts):
        for call in names.of_kind(ast.Call):
            for value in facts.flow.values(names, call.func):
                if value.kind == "class" and facts.flow.bases(value) & words.WRITING_CALLBACKS:
                    yield names, call


def _placed(facts: Facts, names: Names, call: ast.Call) -> Iterator[Finding]:
    parent = names.parents[call]
    if isinstance(parent, ast.List):
        yield _in_list(facts, names, call)
    elif _appends(names, call):
        yield _append(facts, names, call)
    elif (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
    ):
        yield from _uses(facts, names, call)
    elif isinstance(parent, ast.keyword) and parent.arg == "callbacks":
        yield from _alone(facts, names, call)
    else:
        yield _left(facts, names, call)


def _uses(facts: Facts, names: Names, call: ast.Call) -> Iterator[Finding]:
    """What becomes of a callback that a variable holds."""
    for where, use in _held(facts, names, call):
        parent = where.parents[use]
        if isinstance(parent, ast.Attribute):
            continue  # best = checkpoint.best: asking it writes nothing
        if where_runs(facts, where, use) is not Where.ALL:
            continue
        if isinstance(parent, ast.List):
            yield _in_list(facts, where, use)
        elif _appends(where, use):
            yield _append(facts, where, use)
        else:
            yield _left(facts, where, use)


def _held(facts: Facts, names: Names, call: ast.Call) -> Iterator[tuple[Names, ast.Name]]:
    for uses in names.uses.values():
        for use in uses:
            if isinstance(use.ctx, ast.Load):
                values: frozenset[Value] = facts.flow.values(names, use)
                if any(value.node is call for value in values) or _is_object_of(facts, names, use, call):
                    yield names, use


def _is_object_of(facts: Facts, names: Names, use: ast.Name, call: ast.Call) -> bool:
    return any(b.kind == "assign" and b.value is call for b in names.bindings(use.id, use))


def _appends(names: Names, node: ast.expr) -> bool:
    parent = names.parents[node]
    statement = names.parents.get(parent)
    return (
        isinstance(parent, ast.Call)
        and isinstance(parent.func, ast.Attribute)
        and parent.func.attr == "append"
        and isinstance(statement, ast.Expr)
    )


def _in_list(facts: Facts, names: Names, node: ast.expr) -> Finding:
    after = f"] if {horovod_name(facts, names)}.rank() == 0 else [])"
    return safe(facts, "HVD716", names, node, MESSAGE, edits.wrap, names.source, node, "*([", after)


def _alone(facts: Facts, names: Names, call: ast.Call) -> Iterator[Finding]:
    """`callbacks=ModelCheckpoint(...)`: HVD715 puts a list around it, and says there that rank 0 writes."""
    if not facts.options.allows(LIST_RULE):
        after = f"] if {horovod_name(facts, names)}.rank() == 0 else []"
        yield safe(facts, "HVD716", names, call, MESSAGE, edits.wrap, names.source, call, "[", after)


def _append(facts: Facts, names: Names, node: ast.expr) -> Finding:
    condition = f"{horovod_name(facts, names)}.rank() == 0"
    return safe(
        facts, "HVD716", names, node, MESSAGE, guard, facts, names, [names.statement(node)], condition
    )


def _left(facts: Facts, names: Names, node: ast.expr) -> Finding:
    message = "every rank would write these files, and what the callback is passed to cannot be determined"
    advice = (
        f"give it to fit on rank 0 only: *([callback] if {horovod_name(facts, names)}.rank() == 0 else [])"
    )
    return manual("HVD716", names, node, message, advice)


RULE = Rule(
    id="HVD716",
    title="callbacks that write run on rank 0",
    what="Keeps ModelCheckpoint, TensorBoard and CSVLogger, and classes derived from them, to rank 0.",
    why="N processes that write the same checkpoint or log at once corrupt it.",
    safety=(
        "Safe: these callbacks write and change no weights. BackupAndRestore is left to you: every rank has "
        "to restore, otherwise the ranks would resume from different epochs."
    ),
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf
            from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, callbacks=[EarlyStopping(), ModelCheckpoint("m.h5")])
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf
            from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, callbacks=[EarlyStopping(), *([ModelCheckpoint("m.h5")] if hvd.rank() == 0 else [])])
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf
            from tensorflow.keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, TensorBoard

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            every = []
            if hvd.rank() == 0:
                every.append(TensorBoard())
            model.fit(data, callbacks=every)
            """,
            reason="it is already restricted to rank 0",
        ),
    ),
)
