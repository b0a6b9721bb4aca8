"""HVD893: gradients of TensorFlow and Keras that are never averaged."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import called, mentioned, programs
from hvdkit.check.unaveraged import unaveraged
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

REDUCES = ("DistributedGradientTape", "DistributedOptimizer", "allreduce", "mpi4py", "distribute.")


def check(facts: Facts) -> Iterator[Finding]:
    seen: set[ast.AST] = set()
    for program in programs(facts):
        yield from (finding for node, finding in _tapes(facts, program) if _first(seen, node))
        for place in unaveraged(facts, program):
            if _first(seen, place.node):
                yield manual("HVD893", place.names, place.node, place.message, place.advice)


def _first(seen: set[ast.AST], node: ast.AST) -> bool:
    known = node in seen
    seen.add(node)
    return not known


def _tapes(facts: Facts, program: ProgramFacts) -> Iterator[tuple[ast.AST, Finding]]:
    """Plain tapes whose gradients are applied, where nothing in the program reduces any."""
    hvd = _alias(facts, program)
    if not hvd or mentioned(program, *REDUCES) or not mentioned(program, "apply_gradients", ".apply("):
        return
    for names, call, receiver in facts.methods("gradient"):
        if names in program.files and facts.flow.made(names, receiver) == {"tensorflow.GradientTape"}:
            message = "no rank gets the others' gradients: this trains hvd.size() separate models"
            yield call, safe(facts, "HVD893", names, call, message, _wrap, names, call, receiver, hvd)


def _alias(facts: Facts, program: ProgramFacts) -> str:
    """The name under which the program has horovod.tensorflow."""
    for site in called(facts, "init", modules=("horovod.tensorflow", "hvdkit.tensorflow")):
        if site.names in program.files and isinstance(site.node.func, ast.Attribute):
            return site.names.source.segment(site.node.func.value)
    return ""


def _wrap(names: Names, call: ast.Call, receiver: ast.expr, hvd: str) -> Edit:
    statement = names.statement(call)
    if not isinstance(receiver, ast.Name) or hvd not in names.module.names:
        raise edits.CannotEdit("the tape is not a plain variable, or Horovod is not imported here")
    return edits.before(
        names.source, statement, [f"{receiver.id} = {hvd}.DistributedGradientTape({receiver.id})"]
    )


RULE = Rule(
    id="HVD893",
    title="TensorFlow gradients that are never averaged",
    what="Every rank trains its own model, and rank 0's is saved. The job looks fine, but trains on a fraction of the data.",
    why="hvd.init() only connects the ranks; gradients are averaged by the objects it wraps: a tape, an optimizer.",
    safety=(
        "Safe for a tape: it is wrapped right above its gradient(). Optimizers that Keras loads, is given "
        "or uses by default, and graph gradients that bypass the wrapper, are reported. Left alone where "
        "anything else reduces."
    ),
    check=check,
    changes=(
        Change(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            for x in data:
                with tf.GradientTape() as tape:
                    loss = model(x)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            for x in data:
                with tf.GradientTape() as tape:
                    loss = model(x)
                tape = hvd.DistributedGradientTape(tape)
                gradients = tape.gradient(loss, model.trainable_variables)
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.tensorflow as hvd
            import tensorflow as tf

            hvd.init()
            for x in data:
                with tf.GradientTape() as tape:
                    loss = model(x)
                gradients = tape.gradient(loss, model.trainable_variables)
                gradients = [hvd.allreduce(gradient) for gradient in gradients]
                optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            """,
            reason="the gradients are averaged by hand",
        ),
    ),
)
