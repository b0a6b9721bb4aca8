"""Which Keras a program runs on, and whether plain Horovod is written for it or hvdkit's form."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import replace

from hvdkit.dataclass import dataclass
from hvdkit.files import read_text
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.migrate.facts.keras.applied import Applied, applied_gradients
from hvdkit.migrate.facts.keras.model_calls import keras_calls
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.programs.programs import ProgramFacts, programs_of
from hvdkit.source.index.names import Names

# What only Keras 3 has.
ONLY_KERAS_3 = (
    "keras.ops.",
    "keras.random.",
    "keras.distribution.",
    "keras.KerasTensor",
    "keras.StatelessScope",
)
PINS = re.compile(r"^\s*(tensorflow(?:-cpu|-gpu)?|keras)\s*(==|>=|~=)\s*(\d+)\.(\d+)", re.M)
KERAS_2_PACKAGE = re.compile(r"^\s*tf[-_]keras\b", re.M)
LEGACY = "TF_USE_LEGACY_KERAS"
Mention = tuple[Names, ast.expr, str, str]


@dataclass(frozen=True)
class KerasVersion:
    """number: 2, 3, or 0 where nothing says it. said: what does. names, node: the place that it concerns.

    against: what says the other of the two, where the code is of one and would run on the other.
    """

    number: int
    said: str
    names: Names
    node: ast.AST
    against: str = ""


@once
def keras_versions(facts: Facts) -> dict[Names, KerasVersion]:
    """Of each file of the programs to rewrite; where two programs share a file, the later version."""
    found: dict[Names, KerasVersion] = {}
    only_3 = tuple(mentions(facts, ONLY_KERAS_3))
    for program in programs_of(facts):
        if program.kind in words.KINDS:
            version = _version(facts, program, only_3)
            for names in program.files:
                if names not in found or found[names].number < version.number:
                    found[names] = version
    return found


@once
def keras_2_calls(facts: Facts) -> tuple[tuple[Names, ast.Call, ast.expr, str], ...]:
    """Calls of what Keras 3 has removed from its optimizers and models: file, call, receiver and method."""
    steps = [step for step in applied_gradients(facts) if _calls(step, "minimize")]
    fits = [call for call in keras_calls(facts) if call.method == "fit_generator"]
    minimized = [(step.names, step.node, step.optimizer, "minimize()") for step in steps]
    return (*minimized, *((fit.names, fit.node, fit.model, "fit_generator()") for fit in fits))


def target_of(facts: Facts, names: Names) -> str:
    """The form that a file is written in: of the two targets the one for its Keras."""
    version = keras_versions(facts).get(names)
    keras_3 = version is not None and version.number == 3
    return (facts.options.keras_3_target if keras_3 else "") or facts.options.target


def _version(facts: Facts, program: ProgramFacts, only_3: Sequence[Mention]) -> KerasVersion:
    number, said = _by_requirements(program.entry) or _by_environment(facts)
    by_code = _by_code(facts, program, only_3)
    if by_code is not None:
        clashes = by_code.number == 3 and number == 2
        return replace(by_code, against=said) if clashes else by_code
    for where, call, _, method in keras_2_calls(facts) if not number else ():
        if where in program.files:
            return KerasVersion(2, f"{method} is Keras 2's", where, call)
    names, node = _training(facts, program)
    return KerasVersion(number, said, names, node)


def _by_code(facts: Facts, program: ProgramFacts, only_3: Sequence[Mention]) -> KerasVersion | None:
    """The first thing in the program that only one of the two has."""
    files = sorted(program.files, key=lambda names: names.source.path)
    for names, node, qualified, _ in only_3:
        if names in program.files:
            return KerasVersion(3, f"{qualified} is Keras 3's", names, node)
    for step in applied_gradients(facts):
        if step.names in program.files and _calls(step, "apply"):
            return KerasVersion(3, "an optimizer's apply() is Keras 3's", step.names, step.node)
    for names in files:
        for constant in names.texts.get(words.BACKEND, ()):
            return KerasVersion(3, "KERAS_BACKEND is Keras 3's", names, constant)
    for names in files:
        if names.imported("tf_keras"):
            return KerasVersion(2, "the program imports tf_keras", names, names.source.tree)
        if names.texts.get(LEGACY):
            return KerasVersion(2, f"the program sets {LEGACY}", names, names.source.tree)
    return None


def _calls(step: Applied, method: str) -> bool:
    return isinstance(step.node.func, ast.Attribute) and step.node.func.attr == method


def _by_requirements(names: Names) -> tuple[int, str] | None:
    requirements = names.source.path.parent / "requirements.txt"
    try:
        text = read_text(requirements)
    except OSError:
        return None
    if KERAS_2_PACKAGE.search(text):
        return 2, "requirements.txt requires tf-keras"
    for name, operator, major, minor in PINS.findall(text):
        said = f"requirements.txt requires {name} {major}.{minor}"
        if (int(major), int(minor)) >= ((3, 0) if name == "keras" else (2, 16)):
            return 3, said
        if operator != ">=":
            return 2, said
    return None


def _by_environment(facts: Facts) -> tuple[int, str]:
    installed = facts.options.keras
    if not installed:
        return 0, ""
    return 3 if int(installed.partition(".")[0]) >= 3 else 2, f"Keras {installed} is installed here"


def _training(facts: Facts, program: ProgramFacts) -> tuple[Names, ast.AST]:
    """The first call that trains, in the entry if it has one; else the entry's first line."""
    fed = ("fit", "fit_generator", "train_on_batch")
    calls = [(call.names, call.node) for call in keras_calls(facts) if call.method in fed]
    calls += [(step.names, step.node) for step in applied_gradients(facts)]
    mine = [(names, node) for names, node in calls if names in program.files]
    if not mine:
        return program.entry, program.entry.source.tree.body[0]
    return min(mine, key=lambda one: (one[0] is not program.entry, one[0].source.path, one[1].lineno))
