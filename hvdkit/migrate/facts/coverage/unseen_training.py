"""What trains in a way that no other fact knows: an optimizer's own step, a model's fit, a library's trainer.

Such a program is left as it is, and a person has to hear of it: started on several ranks, each would train a
model of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts.data.loaders import every_loader
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as tensorflow
from hvdkit.migrate.facts.keras.applied import applied_gradients, hand_updates
from hvdkit.migrate.facts.keras.gradients import gradient_of
from hvdkit.migrate.facts.keras.mentions import tensorflow_files
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.start_values import is_module
from hvdkit.migrate.facts.programs.programs import ProgramFacts
from hvdkit.migrate.facts.programs.reached_code import runs_in
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import Names

STEPS = ("minimize", "apply_gradients", "apply")  # of an optimizer of Keras
FEEDS = ("fit", "fit_generator", "train_on_batch")  # of a model of Keras
# What only the fit() of a model that is trained in epochs takes, and no estimator's of scikit-learn.
OF_FIT = frozenset(("epochs", "batch_size", "steps_per_epoch", "validation_data", "validation_split"))
TRAINS = ("fit", "train", "learn", "fine_tune")  # how names of methods begin that train in a library
EPOCHS = ("epochs", "max_epochs", "n_epochs", "num_epochs")
KNOWN = ("torch.", "horovod.", "hvdkit.", "keras.", "tensorflow.")


def unseen_training(facts: Facts, program: ProgramFacts) -> list[tuple[Names, ast.AST]]:
    """The calls that train in a program, and that no rule knows how to rewrite."""
    if not facts.project.uses_framework:
        return []
    return [
        (names, call)
        for names, call in _unseen(facts)
        if names in program.files and runs_in(facts, program, names, call)
    ]


@once
def _unseen(facts: Facts) -> list[tuple[Names, ast.Call]]:
    found = dict.fromkeys((*_steps(facts), *hand_updates(facts), *_feeds(facts), *_by_libraries(facts)))
    return sorted(found, key=lambda at: (str(at[0].source.path), at[1].lineno, at[1].col_offset))


def _steps(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """Steps of an optimizer of Keras that are not given a tape's gradients as apply_gradients() is.

    What nobody knows may be Horovod's optimizer, where the project makes one.
    """
    known = {step.node for step in applied_gradients(facts)}
    horovod = bool(facts.calls(*tensorflow.OPTIMIZERS, *tensorflow.TAPES))
    for method in STEPS:
        for names, call, receiver in facts.methods(method):
            if names not in tensorflow_files(facts) or call in known:
                continue
            made = facts.flow.made(names, receiver)
            if made & tensorflow.OPTIMIZERS or (not made and horovod):
                continue
            optimizer = any(name.startswith(tensorflow.OPTIMIZER_CLASSES) for name in made)
            if method != "apply" or optimizer or _takes_gradients(facts, names, call):
                yield names, call


def _takes_gradients(facts: Facts, names: Names, call: ast.Call) -> bool:
    """Whether a call is given what a plain tape computed."""
    return any(
        isinstance(value.node, ast.Call) and gradient_of(facts, value.names, value.node) is not None
        for argument in call.args[:1]
        for value in facts.flow.values(names, argument)
    )


def _feeds(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """A fit() of what is not known to be a model of Keras, and is called as one."""
    known = {call.node for call in keras_calls(facts)}
    for method in FEEDS:
        for names, call, _ in facts.methods(method):
            if names not in tensorflow_files(facts) or call in known or facts.flow.functions(names, call):
                continue
            if method != "fit" or OF_FIT.intersection(keyword.arg or "" for keyword in call.keywords):
                yield names, call


def _by_libraries(facts: Facts) -> Iterator[tuple[Names, ast.Call]]:
    """A trainer of a library: told how many epochs, or given a model or a loader that PyTorch trains with."""
    loaders = {loader.value for loader in every_loader(facts)}
    for names in facts.files:
        for method in names.calls:
            if not method.startswith(TRAINS):
                continue
            for call in names.calls[method]:
                makers = [] if _is_mode(call) else _makers(facts, names, call)
                told = any(keyword.arg in EPOCHS for keyword in call.keywords)
                given = [(names, call), *makers]
                if makers and (told or any(_holds(facts, *each, loaders) for each in given)):
                    yield names, call


def _makers(facts: Facts, names: Names, call: ast.Call) -> list[tuple[Names, ast.Call]]:
    """The calls of a library that may have made the object of a method."""
    if not isinstance(call.func, ast.Attribute):
        return []
    return [
        (value.names, value.node)
        for value in facts.flow.values(names, call.func.value)
        if value.kind == "made" and not value.name.startswith(KNOWN) and isinstance(value.node, ast.Call)
    ]


def _is_mode(call: ast.Call) -> bool:
    """Whether a call may be a module's train(), which sets a mode."""
    named = isinstance(call.func, ast.Attribute) and call.func.attr == "train"
    return named and len(call.args) <= 1 and all(keyword.arg == "mode" for keyword in call.keywords)


def _holds(facts: Facts, names: Names, call: ast.Call, loaders: set[Value]) -> bool:
    """Whether a call is given a module of PyTorch, or a loader."""
    return any(
        value in loaders or is_module(facts, value)
        for argument in (*call.args, *(keyword.value for keyword in call.keywords))
        for part in ast.walk(argument)
        if isinstance(part, (ast.Name, ast.Attribute, ast.Call))
        for value in facts.flow.values(names, part)
    )
