"""What trains in the TensorFlow programs that are rewritten; all empty without TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.keras.model_calls import ModelCall, keras_calls
from hvdkit.migrate.facts.keras.step_loops import Step, StepLoop, step_loops
from hvdkit.migrate.facts.keras.strategies import Strategies, find_strategies
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.keras_versions import target_of
from hvdkit.migrate.facts.programs.programs import kinds_of, programs_of, programs_with
from hvdkit.source.index.names import FUNCTIONS, FunctionNode, Names


@once
def migrating_files(facts: Facts) -> tuple[Names, ...]:
    """The files of the programs that the 7xx rules rewrite."""
    return tuple(names for names in facts.files if kinds_of(facts, names) & set(words.KINDS))


@once
def training_files(facts: Facts) -> tuple[Names, ...]:
    """The files of every TensorFlow program that trains, Horovod's already among them."""
    kinds = {*words.KINDS, "tf-horovod"}
    return tuple(names for names in facts.files if kinds_of(facts, names) & kinds)


def only_with_strategy(facts: Facts, names: Names) -> bool:
    """Whether a file belongs to a program with a strategy, and to none without."""
    return kinds_of(facts, names) & set(words.KINDS) == {"tf-strategy"}


def only_started(facts: Facts, names: Names) -> bool:
    """Whether every program that a file runs in starts Horovod; one that only tries it does not count."""
    programs = programs_with(facts, names)
    return all(
        program.kind in words.KINDS or (program.entry is names and program.kind == "none")
        for program in programs
    )


def migrating_fits(facts: Facts) -> list[ModelCall]:
    """The calls of fit in programs to rewrite."""
    return [
        call
        for call in keras_calls(facts)
        if call.method in ("fit", "fit_generator") and is_migrating(facts, call)
    ]


def migrating_compiles(facts: Facts) -> list[ModelCall]:
    """The calls of compile in programs to rewrite, for models that Keras trains: not to evaluate them."""
    values = facts.flow.values
    fitted = {value for call in migrating_fits(facts) for value in values(call.names, call.model)}
    fed = [call for call in keras_calls(facts) if call.method == "train_on_batch"]
    fitted |= {value for call in fed for value in values(call.names, call.model)}
    mine = [call for call in keras_calls(facts) if call.method == "compile" and is_migrating(facts, call)]
    return [call for call in mine if values(call.names, call.model) & fitted]


def is_migrating(facts: Facts, call: ModelCall) -> bool:
    """Whether a call is in a program to rewrite."""
    return call.names in migrating_files(facts)


@once
def training_step_loops(facts: Facts) -> tuple[StepLoop, ...]:
    """The loops over batches around training steps."""
    return step_loops(facts, _steps(facts))


def _steps(facts: Facts) -> list[Step]:
    """What a script calls for each batch: an optimizer's step, or a model's train_on_batch."""
    fed = [call for call in keras_calls(facts) if call.method == "train_on_batch"]
    steps: list[Step] = [*applied_gradients(facts), *fed]
    return [step for step in steps if step.names in training_files(facts)]


@once
def loopless_steps(facts: Facts) -> tuple[Step, ...]:
    """The training steps that no loop was found for; Keras itself calls a model's train_step."""
    run = {loop.step for loop in training_step_loops(facts)}
    steps = (step for step in _steps(facts) if step not in run)
    return tuple(s for s in steps if getattr(s.names.function(s.node), "name", "") != "train_step")


@once
def environments(facts: Facts) -> dict[Names, Site]:
    """The files of programs to rewrite that learn from an environment, and where that is made first."""
    found: dict[Names, Site] = {}
    for site in facts.calls(*words.ENVIRONMENTS):
        for program in programs_of(facts):
            if program.kind in words.KINDS and site.names in program.files:
                for names in program.files:
                    found.setdefault(names, site)
    return found


@once
def mirrored_strategies(facts: Facts) -> Strategies:
    """The mirrored strategies and their uses."""
    return find_strategies(facts, migrating_files(facts))


@once
def replicated_functions(facts: Facts) -> frozenset[ast.AST]:
    """The functions that strategy.run runs, and those that they call; train_step methods, too."""
    waiting = list(_run_by_strategies(facts))
    found: set[ast.AST] = set()
    while waiting:
        names, function = waiting.pop()
        if function not in found:
            found.add(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call):
                    waiting += facts.flow.functions(names, node)
    return frozenset(found)


def _run_by_strategies(facts: Facts) -> Iterator[tuple[Names, FunctionNode]]:
    for use in mirrored_strategies(facts).of("run", "experimental_run_v2"):
        run = use.call
        if run is not None and run.args:
            for value in facts.flow.values(use.names, run.args[0]):
                if isinstance(value.node, FUNCTIONS):
                    yield value.names, value.node
    for call in migrating_fits(facts):
        for value in facts.flow.values(call.names, call.model):
            if value.kind == "object":
                yield from facts.flow.methods(value, "train_step")


def tensorflow_module(facts: Facts, names: Names) -> str:
    """The Horovod module that a migrated file imports: Keras' own where it only compiles and fits."""
    package = target_of(facts, names)
    keras = any(call.names is names for call in keras_calls(facts)) and not trains_by_hand(facts, names)
    return f"{package}.tensorflow.keras" if keras else f"{package}.tensorflow"


def trains_by_hand(facts: Facts, names: Names) -> bool:
    """Whether a file takes gradients, reduces or loops over steps itself."""
    reduces = any(use.names is names for use in mirrored_strategies(facts).of("reduce", "gather"))
    places = [
        *(gradient.names for step in applied_gradients(facts) for gradient in step.gradients),
        *(step.names for step in applied_gradients(facts)),
        *(loop.names for loop in training_step_loops(facts)),
    ]
    return reduces or names in places
