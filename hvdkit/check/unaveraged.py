"""The optimizers of TensorFlow and Keras that average nothing, in programs that start Horovod."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import calls_in, mentioned
from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.collectives.dependence import Dependence
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.gradients import is_distributed
from hvdkit.migrate.facts.keras.model_calls import ModelCall, given_optimizer, keras_calls, takes_default
from hvdkit.migrate.facts.launch.which_processes import Where, where_runs
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.values.arguments import given, keyword
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.value import Value
from hvdkit.migrate.values.vocabulary import HOROVOD_TENSORFLOW
from hvdkit.source.index.names import Names

# What reduces gradients by other means.
OTHERWISE = ("allreduce", "mpi4py", "tf.distribute", "tensorflow.distribute", "byteps")
FITS = ("fit", "fit_generator", "train_on_batch")
LOADS = frozenset(("keras.models.load_model", "keras.saving.load_model"))
GRAPH_OPTIMIZERS = ("tensorflow.train.", "tensorflow.compat.v1.train.")
GRAPH_GRADIENTS = frozenset(("tensorflow.gradients", "tensorflow.compat.v1.gradients"))
LOADED = "Keras gives a loaded model its own optimizer, which averages nothing"
PLAIN = "this optimizer is not Horovod's: each rank trains a model by itself"
UNHEARD = "no rank hears of the others' gradients: each trains this model by itself"
WRAP = "compile with hvd.DistributedOptimizer(...) around it"
PAST = "Horovod averages in compute_gradients(), and these gradients never pass through it"


@dataclass(frozen=True)
class Unaveraged:
    """A place where weights are changed by this rank's gradients alone: what happens, and what to write."""

    names: Names
    node: ast.AST
    message: str
    advice: str


def unaveraged(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    """Every such place in a program that starts Horovod for TensorFlow."""
    started = [site for site in calls_in(facts, program, "init") if site.name.startswith(HOROVOD_TENSORFLOW)]
    if started and not mentioned(program, *OTHERWISE):
        yield from _fitted(facts, program)
        yield from _minimized(facts, program)
        yield from _taped(facts, program)
        yield from _compiled_again(facts, program)
        yield from _past_the_wrapper(facts, program)


def _fitted(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    """Models that are fitted as Keras loaded them, or as they were compiled with Keras's optimizers alone."""
    calls = [call for call in keras_calls(facts) if call.names in program.files]
    fits = [call for call in calls if call.method in FITS and _on_all(facts, call)]
    fitted = {value for call in fits for value in facts.flow.values(call.names, call.model)}
    compiles = [call for call in calls if call.method == "compile"]
    compiled = {value for call in compiles for value in _models(facts, call)}
    if _sets_optimizers(program):
        return
    for value in sorted(fitted - compiled, key=lambda v: getattr(v.node, "lineno", 0)):
        if value.kind == "made" and value.name in LOADS and isinstance(value.node, ast.Call):
            if not {"custom_objects", "compile", None} & {item.arg for item in value.node.keywords}:
                advice = (
                    "load it with hvd.load_model(...), or compile it again with hvd.DistributedOptimizer(...)"
                )
                yield Unaveraged(value.names, value.node, LOADED, advice)
    for value in sorted(fitted & compiled, key=lambda v: getattr(v.node, "lineno", 0)):
        mine = [call for call in compiles if value in _models(facts, call)]
        if all(_compiles_plain(facts, call) for call in mine):
            for call in mine:
                node = given_optimizer(facts, call) or call.node
                yield Unaveraged(call.names, node, PLAIN, WRAP)


def _models(facts: Facts, call: ModelCall) -> frozenset[Value]:
    """What the model of a call may be: of several assignments the one right above, where there is one."""
    last = last_binding(call.names, call.model) if isinstance(call.model, ast.Name) else None
    return facts.flow.values(call.names, call.model) if last is None else facts.flow.bound(call.names, last)


def _on_all(facts: Facts, call: ModelCall) -> bool:
    return where_runs(facts, call.names, call.node) is Where.ALL


def _sets_optimizers(program: ProgramFacts) -> bool:
    """`model.optimizer = ...`, which is Horovod's as far as anybody knows."""
    return any(
        isinstance(attribute.ctx, ast.Store)
        for names in program.files
        for attribute in names.attributes.get("optimizer", ())
        if isinstance(attribute, ast.Attribute)
        and not (isinstance(attribute.value, ast.Name) and attribute.value.id == "self")
    )


def _compiles_plain(facts: Facts, call: ModelCall) -> bool:
    optimizer = given_optimizer(facts, call)
    if optimizer is None:
        return not call.spread and takes_default(facts, call)
    values = facts.flow.values(call.names, optimizer)
    return bool(values) and all(_is_plain(value) for value in values)


def _is_plain(value: Value) -> bool:
    """Whether an optimizer is one of Keras's or TensorFlow's own classes, or named by a string."""
    if isinstance(value.node, ast.Constant):
        return isinstance(value.node.value, str)
    return value.kind == "made" and value.name.startswith(words.OPTIMIZER_CLASSES)


def _minimized(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    for names, call, receiver in facts.methods("minimize"):
        values = facts.flow.values(names, receiver) if names in program.files else frozenset()
        if values and all(_is_plain(value) for value in values) and keyword(call, "tape") is None:
            if where_runs(facts, names, call) is Where.ALL:
                yield Unaveraged(
                    names,
                    call,
                    PLAIN,
                    "minimize with the optimizer that hvd.DistributedOptimizer(...) returns",
                )


def _taped(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    """Gradients of a plain tape that an optimizer of Keras's applies, where Horovod reduces others."""
    for step in applied_gradients(facts):
        values = facts.flow.values(step.names, step.optimizer) if step.names in program.files else frozenset()
        if not values or not all(_is_plain(value) for value in values):
            continue
        for gradient in step.gradients:
            if gradient.tape is not None and not is_distributed(facts, gradient):
                advice = "tape = hvd.DistributedGradientTape(tape) above it"
                yield Unaveraged(gradient.names, gradient.node, UNHEARD, advice)


def _compiled_again(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    """A model that is fitted further down in the block where it was compiled last, by a plain optimizer."""
    calls = [call for call in keras_calls(facts) if call.names in program.files]
    for call in (call for call in calls if call.method == "compile" and _compiles_plain(facts, call)):
        models = _models(facts, call)
        block = call.names.parents[call.names.statement(call.node)]
        same = [o for o in calls if o.names is call.names and _models(facts, o) & models]
        compiled = any(o.method == "compile" and o.node.lineno < call.node.lineno for o in same)
        below = [o for o in same if o.node.lineno > call.node.lineno and o.method in ("compile", *FITS)]
        below = [o for o in below if o.names.parents[o.names.statement(o.node)] is block]
        first = min(below, key=lambda other: other.node.lineno, default=None)
        if compiled and first is not None and first.method in FITS and _on_all(facts, first):
            node = given_optimizer(facts, call) or call.node
            yield Unaveraged(call.names, node, PLAIN, WRAP)


def _past_the_wrapper(facts: Facts, program: ProgramFacts) -> Iterator[Unaveraged]:
    """apply_gradients() of TensorFlow 1, given what the wrapper's compute_gradients() did not make."""
    search = _PlainGradients(facts)
    for names, call, receiver in facts.methods("apply_gradients"):
        if names not in program.files or not (call.args or call.keywords):
            continue
        inner = _inside(facts, facts.flow.values(names, receiver))
        if not inner or not all(value.name.startswith(GRAPH_OPTIMIZERS) for value in inner):
            continue
        if search.holds(names, call.args[0] if call.args else call.keywords[0].value):
            advice = (
                "take them from the wrapped optimizer, optimizer.compute_gradients(loss, variables), or call "
                "optimizer.minimize(loss)"
            )
            yield Unaveraged(names, call, PAST, advice)


def _inside(facts: Facts, optimizers: frozenset[Value]) -> frozenset[Value]:
    """The optimizers, and for each of Horovod's the one that it was given."""
    found: set[Value] = set()
    for value in optimizers:
        wraps = value.kind == "made" and value.name in words.OPTIMIZERS and isinstance(value.node, ast.Call)
        inner = given(value.node, 0, "optimizer") if wraps and isinstance(value.node, ast.Call) else None
        found |= {value} if inner is None else facts.flow.values(value.names, inner)
    return frozenset(found)


class _PlainGradients(Dependence):
    """Gradients of TensorFlow's own: tf.gradients, a plain tape, compute_gradients of a plain optimizer."""

    def at(self, names: Names, part: ast.AST) -> bool | None:
        if not isinstance(part, ast.Call):
            return None
        if self.facts.flow.qualified(names, part.func) & GRAPH_GRADIENTS:
            return True
        if isinstance(part.func, ast.Attribute) and part.func.attr == "compute_gradients":
            values = self.facts.flow.values(names, part.func.value)
            return bool(values) and all(_is_plain(value) for value in values)
        if isinstance(part.func, ast.Attribute) and part.func.attr == "gradient":
            return self.facts.flow.made(names, part.func.value) == {words.TAPE}
        return None
