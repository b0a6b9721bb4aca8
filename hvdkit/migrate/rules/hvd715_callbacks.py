"""HVD715: fit gets the callbacks that broadcast the first weights and average the metrics."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import refused, required
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.model_calls import ModelCall
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.horovod_import import horovod_module, horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_fits
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.tensorflow import callbacks
from hvdkit.source.edits import Edit, Slot
from hvdkit.source.index.names import Names

WRITERS_RULE = "HVD716"
MESSAGE = "rank 0's initial weights are broadcast to all ranks, and metrics are averaged over the ranks"


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for call in migrating_fits(facts):
        names, given = call.names, call.argument("callbacks")
        if given is None and call.spread:
            message = "which callbacks are passed to this fit cannot be determined"
            advice = f"put {_text(facts, names)} first among them"
            yield refused("HVD715", names, call.node, message, advice)
            continue
        if target_of(facts, names) == "hvdkit":
            yield from _list(facts, call, given)
            continue
        found = [v for v in facts.flow.values(names, given) if isinstance(v.node, ast.List)] if given else []
        if any(_is_there(value.node) for value in found) or (given is not None and _is_there(given)):
            continue
        if given is None or (isinstance(given, ast.Constant) and given.value is None):
            text = f"callbacks=[{_text(facts, names)}]"
            make = (edits.replace, names.source, _keyword(call), text) if given is not None else None
            if make is None:
                make = (edits.add_arguments, names.source, call.node, [text])  # type: ignore[assignment]
            yield required(facts, "HVD715", names, call.node, MESSAGE, *make)  # type: ignore[misc]
        elif len(found) == 1 and _made_once(facts, call, given) and isinstance(found[0].node, ast.List):
            if found[0].node not in seen:
                seen.add(found[0].node)
                where = found[0].names
                yield required(
                    facts, "HVD715", where, found[0].node, MESSAGE, _first, facts, where, found[0].node
                )
        else:
            yield required(facts, "HVD715", names, given, MESSAGE, _around, facts, call, given)


def _list(facts: Facts, call: ModelCall, given: ast.expr | None) -> Iterator[Finding]:
    """hvd.callbacks(...) around what fit is given: it keeps those that write to rank 0, too."""
    names = call.names
    hvd = horovod_name(facts, names)
    name = f"{hvd}.callbacks" if horovod_module(facts, names).endswith(".keras") else "hvd_callbacks"
    made = facts.flow.values(names, given)
    if any("callbacks" in value.name and value.name.startswith("hvdkit.") for value in made):
        return
    if given is None or (isinstance(given, ast.Constant) and given.value is None):
        if given is None:
            make = (edits.add_arguments, names.source, call.node, [f"callbacks={name}()"])
            yield required(facts, "HVD715", names, call.node, MESSAGE, *make)
        else:
            yield required(
                facts, "HVD715", names, given, MESSAGE, edits.replace, names.source, given, f"{name}()"
            )
        return
    single = any(value.name.startswith("keras.callbacks.") or value.kind == "object" for value in made)
    unknown = not all(isinstance(value.node, ast.List) for value in made) or not made
    before, after = ("[", "]") if single else ("", " or []" if unknown else "")
    around = (edits.wrap, names.source, given, f"{name}({before}", f"{after})")
    yield required(facts, "HVD715", names, given, MESSAGE, *around)


def _keyword(call: ModelCall) -> ast.AST:
    return next(
        (k for k in call.node.keywords if k.arg == "callbacks"), call.argument("callbacks") or call.node
    )


def _is_there(node: ast.AST) -> bool:
    """Whether Horovod's broadcast, or hvdkit's list, is among some callbacks."""
    return any(
        isinstance(part, ast.Call)
        and getattr(part.func, "attr", getattr(part.func, "id", "")) == words.BROADCAST_CALLBACK
        for part in ast.walk(node)
    )


def _text(facts: Facts, names: Names) -> str:
    module = callbacks(facts, names)
    return f"{module}.BroadcastGlobalVariablesCallback(0), {module}.MetricAverageCallback()"


def _made_once(facts: Facts, call: ModelCall, given: ast.expr) -> bool:
    """Whether a list that fit is given is nothing but that list: written there, or held by one variable."""
    if isinstance(given, ast.List):
        return True
    values = facts.flow.values(call.names, given)
    return isinstance(given, (ast.Name, ast.Attribute)) and len(values) == 1


def _first(facts: Facts, names: Names, node: ast.List) -> Edit:
    """The two callbacks before the first element, in the layout of the list."""
    text, source = _text(facts, names), names.source
    start = source.start(node) + 1
    if not node.elts:
        return Edit(start, start, text, Slot.ARGUMENT)
    first = source.start(node.elts[0])
    if source.line_at(first) != source.line_at(start):
        gap = source.newline + source.indent(source.line_at(first))
        return Edit(first, first, text.replace(", ", f",{gap}") + f",{gap}", Slot.ARGUMENT)
    return Edit(first, first, f"{text}, ", Slot.ARGUMENT)


def _around(facts: Facts, call: ModelCall, given: ast.expr) -> list[Edit]:
    names = call.names
    values = facts.flow.values(names, given)
    if any(value.name.startswith("keras.callbacks.") or value.kind == "object" for value in values):
        before, after = "", ""
        if facts.options.allows(WRITERS_RULE) and _writes(facts, names, given):
            before, after = "*([", f"] if {horovod_name(facts, names)}.rank() == 0 else [])"
        return edits.wrap(names.source, given, f"[{_text(facts, names)}, {before}", f"{after}]")
    return edits.wrap(names.source, given, f"[{_text(facts, names)}, *(", " or [])]")


def _writes(facts: Facts, names: Names, given: ast.expr) -> bool:
    """Whether a callback that is made right there writes files, on every rank that comes here."""
    if not isinstance(given, ast.Call) or where_runs(facts, names, given) is not Where.ALL:
        return False
    classes = [value for value in facts.flow.values(names, given.func) if value.kind == "class"]
    made = facts.flow.qualified(names, given.func) | {base for v in classes for base in facts.flow.bases(v)}
    return bool(made & words.WRITING_CALLBACKS)


RULE = Rule(
    id="HVD715",
    title="broadcast and metric average in fit",
    what=(
        "Puts hvd.callbacks.BroadcastGlobalVariablesCallback(0) and hvd.callbacks.MetricAverageCallback() "
        "first among the callbacks of every fit."
    ),
    why=(
        "Each rank draws its own initial weights. And EarlyStopping, ReduceLROnPlateau and checkpoints that "
        "read a metric must see the same number on every rank; otherwise the ranks diverge and block forever."
    ),
    safety="Safe: the broadcast happens once, after the first batch; the averages come before other callbacks read them.",
    check=check,
    changes=(
        Change(
            """\
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=2)
            """,
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, epochs=2, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0), hvd.callbacks.MetricAverageCallback()])
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow.keras as hvd
            import tensorflow as tf

            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(loss="mse")
            model.fit(data, callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
            """,
            reason="the broadcast exists",
        ),
    ),
)
