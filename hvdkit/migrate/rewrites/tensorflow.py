"""What the 7xx rules write, and where: expressions, and lines that keep their place when a scope goes."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.launch.rank_kinds import rank_kinds
from hvdkit.migrate.facts.programs.horovod_import import horovod_module, horovod_name
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.tensorflow_programs import mirrored_strategies, only_with_strategy
from hvdkit.source.edits import OWN_LINES, Edit, Slot
from hvdkit.source.index.names import Names

SCOPE_RULE = "HVD703"
# The rates of Keras' optimizers that are the same in all of its versions, by the name that compile takes.
RATES = {"adam": ("Adam", 0.001), "rmsprop": ("RMSprop", 0.001), "sgd": ("SGD", 0.01)}
# Those whose rate is not: they are asked for it.
ASKED = {name.lower(): name for name in ("Adadelta", "Adagrad", "Adamax", "AdamW", "Ftrl", "Lion", "Nadam")}


def tf(names: Names) -> str:
    """The name under which a file has, or will have, TensorFlow."""
    for name, bindings in names.module.names.items():
        if any(b.kind == "import" and b.qualified == "tensorflow" for b in bindings):
            return name
    return "tf"


def keras(names: Names) -> str:
    """The name under which a file has, or will have, Keras."""
    for name, bindings in names.module.names.items():
        if any(
            b.kind == "import" and b.qualified in ("keras", "tensorflow.keras", "tf_keras") for b in bindings
        ):
            return name
    return f"{tf(names)}.keras"


def callbacks(facts: Facts, names: Names) -> str:
    """How a file writes Horovod's callbacks for Keras."""
    return (
        f"{horovod_name(facts, names)}.callbacks"
        if horovod_module(facts, names).endswith(".keras")
        else "hvd_callbacks"
    )


def meeting(facts: Facts, names: Names) -> str:
    """A call that no rank comes back from before rank 0 makes it: horovod.tensorflow has no barrier."""
    hvd = horovod_name(facts, names)
    return (
        f"{hvd}.average(0)"
        if horovod_module(facts, names).startswith("hvdkit")
        else f"{hvd}.broadcast(0, root_rank=0)"
    )


def barrier(facts: Facts, names: Names) -> str:
    """A call that no rank comes back from before all have made it, in the module that the file imports."""
    hvd, module = horovod_name(facts, names), horovod_module(facts, names)
    if module.startswith("hvdkit"):
        return f"{hvd}.average(0)"
    return f"{hvd}.allreduce(0, op={hvd}.Sum)" if module.endswith(".keras") else f"{hvd}.allgather_object(0)"


def own_rate(optimizer: str) -> str:
    """The rate that an optimizer takes where it is given none; Keras 2 and 3 both tell it there."""
    return f'{optimizer}().get_config()["learning_rate"]'


def scaled(facts: Facts, names: Names, rate: float | str) -> str:
    """A rate times the number of ranks."""
    hvd = horovod_name(facts, names)
    return f"{hvd}.scale_lr({rate})" if target_of(facts, names) == "hvdkit" else f"{rate} * {hvd}.size()"


def scaled_by_name(facts: Facts, names: Names, node: ast.expr | None) -> str | None:
    """For "adam" the optimizer that it names, its rate scaled, in a script that was single-process."""
    name = str(node.value).lower() if isinstance(node, ast.Constant) else ""
    if only_with_strategy(facts, names):
        return None
    if name in RATES:
        made, rate = RATES[name]
        return f"{keras(names)}.optimizers.{made}({scaled(facts, names, rate)})"
    if name in ASKED:
        asked = f"{keras(names)}.optimizers.{ASKED[name]}"
        return f"{asked}({scaled(facts, names, own_rate(asked))})"
    return None


def divided(facts: Facts, names: Names, node: ast.expr) -> list[Edit]:
    """`x` as `x // hvd.size()`."""
    divisor = f" // {horovod_name(facts, names)}.size()"
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return edits.wrap(names.source, node, "", divisor)  # a * b // c is (a * b) // c
    return edits.appended(names.source, node, divisor)


def is_divided(facts: Facts, names: Names, node: ast.expr) -> bool:
    """Whether an expression, or the variable that it is, is divided by the number of ranks."""
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.FloorDiv, ast.Div)) and _is_size(facts, names, node.right)
    if isinstance(node, ast.Name):
        values = [b.value for b in names.bindings(node.id, node) if b.kind == "assign" and not b.path]
        return any(isinstance(value, ast.BinOp) and is_divided(facts, names, value) for value in values)
    return False


def _is_size(facts: Facts, names: Names, node: ast.expr) -> bool:
    return "size" in rank_kinds(facts).of(names, node)


def before(
    facts: Facts, names: Names, statement: ast.stmt, lines: Sequence[str], slot: Slot = Slot.LINES
) -> list[Edit]:
    """Lines above a statement, moved out with it where a strategy's scope around it goes."""
    return placed(facts, names, statement, [edits.before(names.source, statement, lines, slot)])


def after(facts: Facts, names: Names, statement: ast.stmt, lines: Sequence[str]) -> list[Edit]:
    """Lines below a statement, moved out with it where a strategy's scope around it goes."""
    return placed(facts, names, statement, [edits.after(names.source, statement, lines)])


def guard(facts: Facts, names: Names, row: Sequence[ast.stmt], condition: str) -> list[Edit]:
    """Statements under `if condition:`, moved out with them where a strategy's scope around them goes."""
    return placed(facts, names, row[0], edits.guard(names.source, row, condition))


def placed(facts: Facts, names: Names, statement: ast.stmt, made: Iterable[Edit]) -> list[Edit]:
    """Edits whose new lines are moved out as far as the scopes around a statement that will be opened."""
    extra = _extra(facts, names, statement)
    found = []
    for edit in made:
        if extra and edit.inserts and edit.slot in OWN_LINES:
            lines = edit.text.splitlines(keepends=True)
            edit = replace(edit, text="".join(line.removeprefix(extra) for line in lines))
        found.append(edit)
    return found


def _extra(facts: Facts, names: Names, statement: ast.stmt) -> str:
    """The indentation that goes with the scopes around a statement."""
    if not facts.options.allows(SCOPE_RULE):
        return ""
    scopes = {use.call for use in mirrored_strategies(facts).of("scope")}
    extra, child = "", statement
    for parent in names.ancestors(statement):
        if isinstance(parent, ast.With) and child in parent.body and len(parent.items) == 1:
            if parent.items[0].context_expr in scopes:
                source = names.source
                outer = source.indent(source.line_at(source.start(parent)))
                inner = source.indent(source.line_at(source.start(parent.body[0])))
                extra += inner.removeprefix(outer)
        if isinstance(parent, ast.stmt):
            child = parent
    return extra
