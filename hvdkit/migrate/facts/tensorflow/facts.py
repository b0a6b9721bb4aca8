"""The TensorFlow facts of a project, each computed when a rule first asks; all empty without TensorFlow."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from hvdkit.migrate.facts.tensorflow import vocabulary as words
from hvdkit.migrate.facts.tensorflow.datasets import Chains
from hvdkit.migrate.facts.tensorflow.models import ModelCall, model_calls
from hvdkit.migrate.facts.tensorflow.strategies import Strategies, find_strategies
from hvdkit.migrate.facts.tensorflow.tapes import Applied, StepLoop, find_applied, step_loops
from hvdkit.migrate.facts.values.value import Value
from hvdkit.migrate.names import FUNCTIONS, FunctionNode, Names

if TYPE_CHECKING:
    from hvdkit.migrate.facts.facts import Facts, Site


class TensorFlow:
    """Everything rules may ask about the TensorFlow side of a project."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    @cached_property
    def mentioned(self) -> tuple[Names, ...]:
        """The files that name TensorFlow or Keras."""
        return tuple(
            names
            for names in self._facts.files
            if "tensorflow" in names.source.text or "keras" in names.source.text
        )

    @cached_property
    def files(self) -> tuple[Names, ...]:
        """The files of the programs that the 7xx rules rewrite."""
        return tuple(names for names in self._facts.files if self._facts.kinds(names) & set(words.KINDS))

    @cached_property
    def trained(self) -> tuple[Names, ...]:
        """The files of every TensorFlow program that trains, Horovod's already among them."""
        kinds = {*words.KINDS, "tf-horovod"}
        return tuple(names for names in self._facts.files if self._facts.kinds(names) & kinds)

    def strategic(self, names: Names) -> bool:
        """Whether a file belongs to a program with a strategy, and to none without."""
        return self._facts.kinds(names) & set(words.KINDS) == {"tf-strategy"}

    def only_started(self, names: Names) -> bool:
        """Whether every program that a file runs in starts Horovod; one that only tries it does not count."""
        programs = [program for program in self._facts.programs if names in program.files]
        return all(
            program.kind in words.KINDS or (program.entry is names and program.kind == "none")
            for program in programs
        )

    @cached_property
    def calls(self) -> tuple[ModelCall, ...]:
        """Calls of Keras models' methods."""
        return model_calls(self._facts, self.mentioned)

    def fits(self) -> list[ModelCall]:
        """The calls of fit in programs to rewrite."""
        return [call for call in self.calls if call.method in ("fit", "fit_generator") and self.mine(call)]

    def compiles(self) -> list[ModelCall]:
        """The calls of compile in programs to rewrite, for models that Keras trains: not to evaluate them."""
        values = self._facts.flow.values
        fitted = {value for call in self.fits() for value in values(call.names, call.model)}
        fed = [call for call in self.calls if call.method == "train_on_batch"]
        fitted |= {value for call in fed for value in values(call.names, call.model)}
        mine = [call for call in self.calls if call.method == "compile" and self.mine(call)]
        return [call for call in mine if values(call.names, call.model) & fitted]

    @cached_property
    def models(self) -> frozenset[Value]:
        """What is fitted, compiled or trained by a tape."""
        found: set[Value] = set()
        for call in self.calls:
            found |= self._facts.flow.values(call.names, call.model)
        return frozenset(found)

    def mine(self, call: ModelCall) -> bool:
        """Whether a call stands in a program to rewrite."""
        return call.names in self.files

    @cached_property
    def applied(self) -> tuple[Applied, ...]:
        """Applications of gradients that a tape took."""
        return find_applied(self._facts, self.mentioned)

    @cached_property
    def loops(self) -> tuple[StepLoop, ...]:
        """The loops over batches around training steps."""
        return step_loops(self._facts, [step for step in self.applied if step.names in self.trained])

    @cached_property
    def loopless(self) -> tuple[Applied, ...]:
        """The training steps that no loop was found for; Keras itself calls a model's train_step."""
        run = {loop.applied for loop in self.loops}
        steps = (step for step in self.applied if step.names in self.trained and step not in run)
        return tuple(s for s in steps if getattr(s.names.function(s.node), "name", "") != "train_step")

    @cached_property
    def played(self) -> dict[Names, Site]:
        """The files of programs to rewrite that learn from an environment, and where that is made first."""
        found: dict[Names, Site] = {}
        for site in self._facts.calls(*words.ENVIRONMENTS):
            for program in self._facts.programs:
                if program.kind in words.KINDS and site.names in program.files:
                    for names in program.files:
                        found.setdefault(names, site)
        return found

    @cached_property
    def strategies(self) -> Strategies:
        """The mirrored strategies and their uses."""
        return find_strategies(self._facts, self.files)

    @cached_property
    def replicated(self) -> frozenset[ast.AST]:
        """The functions that strategy.run runs, and those that they call; train_step methods, too."""
        waiting = list(self._run_by_strategies())
        found: set[ast.AST] = set()
        while waiting:
            names, function = waiting.pop()
            if function not in found:
                found.add(function)
                for node in ast.walk(function):
                    if isinstance(node, ast.Call):
                        waiting += self._facts.flow.functions(names, node)
        return frozenset(found)

    def _run_by_strategies(self) -> Iterator[tuple[Names, FunctionNode]]:
        for use in self.strategies.of("run", "experimental_run_v2"):
            run = use.call
            if run is not None and run.args:
                for value in self._facts.flow.values(use.names, run.args[0]):
                    if isinstance(value.node, FUNCTIONS):
                        yield value.names, value.node
        for call in self.fits():
            for value in self._facts.flow.values(call.names, call.model):
                if value.kind == "object":
                    yield from self._facts.flow.methods(value, "train_step")

    @cached_property
    def chains(self) -> Chains:
        """How datasets are made, and which of them train."""
        return Chains(self._facts)

    def module(self, names: Names) -> str:
        """The Horovod module that a migrated file imports: Keras' own where it only compiles and fits."""
        package = "horovod" if self._facts.options.target == "horovod" else "hvdkit"
        keras = any(call.names is names for call in self.calls) and not self.by_hand(names)
        return f"{package}.tensorflow.keras" if keras else f"{package}.tensorflow"

    def by_hand(self, names: Names) -> bool:
        """Whether a file takes gradients, reduces or loops over steps itself."""
        reduces = any(use.names is names for use in self.strategies.of("reduce", "gather"))
        places = [*(step.names for step in self.applied), *(loop.names for loop in self.loops)]
        return reduces or names in places

    def callers(self, names: Names, function: FunctionNode) -> list[tuple[Names, ast.Call]]:
        """Calls that run a function, `strategy.run(function, ...)` among them."""
        found = list(self._facts.flow.call_sites(names, function))
        for where in self.mentioned:
            for method in ("run", "experimental_run_v2"):
                for call in where.calls.get(method, ()):
                    first = call.args[0] if call.args else None
                    if first is not None and any(
                        value.node is function for value in self._facts.flow.values(where, first)
                    ):
                        found.append((where, call))
        return found
