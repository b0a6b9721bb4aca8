"""The facts of one project, each computed when a rule first asks.

Facts are about values, never about names: a model is what an optimizer trains or DDP wraps, a loader is what
DataLoader made, a training loop is one that leads to a backward pass.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, Callable, Union

from hvdkit.migrate import edits as edit
from hvdkit.migrate.facts import vocabulary as words
from hvdkit.migrate.facts.averages.by_hand import ByHand
from hvdkit.migrate.facts.code.call_graph import CallGraph
from hvdkit.migrate.facts.code.loops import Loops
from hvdkit.migrate.facts.data.loaders import Loader, find_loaders
from hvdkit.migrate.facts.data.sharding import share
from hvdkit.migrate.facts.launch.launch import Launch
from hvdkit.migrate.facts.launch.launch_reach import Reach
from hvdkit.migrate.facts.launch.rank_kinds import RankKinds
from hvdkit.migrate.facts.launch.strategies import Use, find_uses
from hvdkit.migrate.facts.optimizers.averaging_optimizers import left_alone
from hvdkit.migrate.facts.optimizers.optimizer_wrappers import Around, find_around
from hvdkit.migrate.facts.optimizers.optimizers import Optimizer, find_optimizers
from hvdkit.migrate.facts.optimizers.placing import Place, find_places
from hvdkit.migrate.facts.optimizers.step_calls import StepCalls
from hvdkit.migrate.facts.optimizers.steps import Steps
from hvdkit.migrate.facts.programs import ProgramFacts, find_programs
from hvdkit.migrate.facts.tensorflow import TensorFlow
from hvdkit.migrate.facts.tensorflow import vocabulary as tensorflow
from hvdkit.migrate.facts.values.arguments import keyword
from hvdkit.migrate.facts.values.flow import Flow
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Applicability, Edit, Finding
from hvdkit.migrate.project import Project

# What makes the edits of a finding: a verb of hvdkit.migrate.edits, or a rule's own function.
Maker = Callable[..., Union[Edit, Iterable[Edit]]]

OBJECTS = frozenset(("made", "object", "literal", "param"))  # kinds of values that are no names in a module

NOT_REWRITTEN = "not rewritten because"  # how the advice begins where an edit cannot be made


@dataclass(frozen=True)
class Options:
    """What the person asked for. target: "horovod" writes plain horovod.torch, "hvdkit" the wrapper form."""

    target: str = "horovod"
    suggested: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def allows(self, rule: str) -> bool:
        """Whether --select and --ignore leave a rule, by prefix of its id."""
        selected = not self.select or rule.startswith(self.select)
        return selected and not (self.ignore and rule.startswith(self.ignore))


@dataclass(frozen=True)
class Site:
    """A call in a file, and the qualified name it was found under."""

    names: Names
    node: ast.Call
    name: str


@dataclass
class Facts:
    """Everything rules may ask about a project.

    literally: the entries of programs of which DDP is to be said literally, since no optimizer can average.
    before: what was asked of the same project without that, whose values are the same.
    """

    project: Project
    options: Options = field(default_factory=Options)
    literally: frozenset[FilePath] = frozenset()
    before: InitVar[Facts | None] = None

    def __post_init__(self, before: Facts | None) -> None:
        self.flow: Flow = Flow(self.project) if before is None else before.flow
        self._hvd: dict[Names, str] = {}
        self.answers: dict[object, Any] = {}  # what slow questions about one node were answered
        self.sharing: list[edit.SharesLine] = []  # what kept edits from being made that would be carried out

    def forget(self) -> None:
        """Let go of all facts, which know each other: no circle is left to the garbage collector."""
        vars(self.flow).clear()
        vars(self).clear()

    # --- calls ---------------------------------------------------------------------------------

    @cached_property
    def files(self) -> list[Names]:
        """All parsed files, in path order."""
        return [self.project.files[path] for path in sorted(self.project.files)]

    @cached_property
    def _calls(self) -> dict[str, list[Site]]:
        found: dict[str, list[Site]] = defaultdict(list)
        for names in self.files:
            for call in names.library_calls:
                for name in self.flow.qualified(names, call.func):
                    filed = name
                    if name == words.INIT or name in words.LIBRARY_STARTS:
                        filed = words.OWN_GROUP if _of_horovod(names, call) else words.INIT
                    found[filed].append(Site(names, call, name))
        for site in self._calls_of_kept():
            found[site.name].append(site)
        return found

    def _calls_of_kept(self) -> Iterator[Site]:
        """`args.dist.barrier()`, where a file keeps torch.distributed itself: `args.dist = dist`."""
        if not any(_is_value(names, "torch", "torch.distributed") for names in self.files):
            return
        for names in self.files:
            for call in names.of_kind(ast.Call) if not names.stars else ():
                if isinstance(call.func, ast.Attribute) and not names.qualified(call.func):
                    for name in self.flow.qualified(names, call.func):
                        if name.startswith("torch.distributed."):
                            yield Site(names, call, name)

    def calls(self, *wanted: str) -> list[Site]:
        """Calls of library functions by qualified name; a trailing dot means everything below."""
        found: list[Site] = []
        for name in wanted:
            if name.endswith("."):
                found += [
                    site for key, sites in self._calls.items() if key.startswith(name) for site in sites
                ]
            else:
                found += self._calls.get(name, [])
        return sorted(set(found), key=lambda site: (*_place(site.names, site.node), site.name))

    def methods(self, name: str) -> Iterator[tuple[Names, ast.Call, ast.expr]]:
        """Calls `x.name(...)` with their receivers, module functions left out."""
        for names in self.files:
            for call in names.calls.get(name, ()):
                if isinstance(call.func, ast.Attribute) and self.of_object(names, call.func):
                    yield names, call, call.func.value

    def of_object(self, names: Names, attribute: ast.Attribute) -> bool:
        """Whether an attribute is an object's, and not a member of a module: `model.grad`, not `torch.ones`.

        What one file of the project makes, and another takes from it, is an object there as well.
        """
        named = names.qualified(attribute)
        if not named:
            return True
        if not any(name.startswith(".") or self.flow.is_own(names, name.partition(".")[0]) for name in named):
            return False
        holder: ast.expr = attribute
        while isinstance(holder, ast.Attribute):  # `setup.loader.sampler.set_epoch`
            holder = holder.value
            if any(value.kind in OBJECTS for value in self.flow.values(names, holder)):
                return True
        return False

    @cached_property
    def graph(self) -> CallGraph:
        """Which code may run in which program."""
        return CallGraph(self)

    # --- what the program is -------------------------------------------------------------------

    @cached_property
    def programs(self) -> list[ProgramFacts]:
        """Entry scripts with the files they import, and what kind of program each is."""
        return find_programs(self)

    def kinds(self, names: Names) -> set[str]:
        """Kinds ("ddp", "single", "horovod", "none") of the programs that a file belongs to."""
        return {program.kind for program in self.programs if names in program.files}

    def migrates(self, names: Names) -> bool:
        """Whether a file belongs to a program that trains with PyTorch, and is not Horovod's yet."""
        return any(program.migrates for program in self.programs if names in program.files)

    @cached_property
    def launch(self) -> Launch:
        """How the program is started, and what ranks and sizes are computed from."""
        return Launch(self)

    @cached_property
    def reach(self) -> Reach:
        """Whether every process of a job gets to the launch code."""
        return Reach(self, self.launch)

    @cached_property
    def every_optimizer(self) -> list[Optimizer]:
        """Every optimizer that is constructed."""
        return find_optimizers(self)

    @cached_property
    def optimizers(self) -> list[Optimizer]:
        """The optimizers that average gradients, or are to: not those that get averages, or never step."""
        given = list(left_alone(self, self.every_optimizer))
        return [
            optimizer
            for optimizer in self.every_optimizer
            if optimizer not in given and not self._only_shown(optimizer)
        ]

    def _only_shown(self, optimizer: Optimizer) -> bool:
        """Whether a file of a training makes it only where it is run itself, and trains nothing: a demo."""
        if not self.migrates(optimizer.names):
            return False
        runs = [
            program
            for program in self.programs
            if self.graph.runs(program.entry, program.files, optimizer.names, optimizer.node)
        ]
        return bool(runs) and all(program.kind == "none" for program in runs)

    @cached_property
    def places(self) -> list[Place]:
        """Where each optimizer that is not wrapped yet is to be wrapped."""
        return find_places(self)

    @cached_property
    def step_calls(self) -> StepCalls:
        """The calls that step optimizers, and what leads to them."""
        return StepCalls(self)

    @cached_property
    def steps(self) -> Steps:
        """Optimizer steps, and how the gradients come to them."""
        return Steps(self)

    @cached_property
    def by_hand(self) -> ByHand:
        """Gradients that the program averages itself, without DDP."""
        return ByHand(self)

    @cached_property
    def strategies(self) -> list[Use]:
        """Every use of another parallelism than Horovod's."""
        return list(find_uses(self))

    @cached_property
    def around(self) -> list[Around]:
        """Every object that is put around an optimizer and steps it."""
        return list(find_around(self))

    @cached_property
    def ranks(self) -> RankKinds:
        """Which rank, size or other number an expression is."""
        return RankKinds(self)

    @cached_property
    def tf(self) -> TensorFlow:
        """The TensorFlow side of the project."""
        return TensorFlow(self)

    @cached_property
    def loops(self) -> Loops:
        """Batch loops and epoch loops around every backward pass."""
        return Loops(self)

    @cached_property
    def loaders(self) -> list[Loader]:
        """Every loader that is constructed."""
        return find_loaders(self)

    def training(self, loader: Loader) -> bool:
        """Whether a backward pass runs inside a loop over the loader."""
        return any(loader.value in path.loaders for path in self.loops.paths)

    def sharded(self, loader: Loader) -> bool:
        """Whether each rank gets its own share of the loader's data."""
        return bool(share(self, loader))

    # --- findings ------------------------------------------------------------------------------

    def hvd(self, names: Names) -> str:
        """The name under which a file has, or will have, Horovod."""
        if names not in self._hvd:
            self._hvd[names] = self._find_hvd(names)
        return self._hvd[names]

    def _find_hvd(self, names: Names) -> str:
        tf = self.kinds(names) & set(tensorflow.KINDS)
        for module in tensorflow.MODULES if tf else words.HOROVOD:
            for name, bindings in names.module.names.items():
                if any(b.kind == "import" and b.qualified == module for b in bindings):
                    return name
        return (
            "hvd"
            if "hvd" not in names.uses and "hvd" not in names.module.names
            else ("horovod_tensorflow" if tf else "horovod_torch")
        )

    def module(self, names: Names) -> str:
        """The module that a migrated file imports."""
        if self.kinds(names) & set(tensorflow.KINDS):
            return self.tf.module(names)
        return "horovod.torch" if self.options.target == "horovod" else "hvdkit.torch"

    def safe(self, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any) -> Finding:
        """A finding that is carried out by make(*args); left to the person when that raises CannotEdit."""
        return self._finding(rule, names, node, message, Applicability.SAFE, make, args)

    def required(
        self, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
    ) -> Finding:
        """As `safe`, for what the result would be wrong without: the program is refused when make raises."""
        finding = self._finding(rule, names, node, message, Applicability.SAFE, make, args)
        if finding.applicability is Applicability.SAFE:
            return finding
        return replace(finding, applicability=Applicability.REFUSED)

    def suggested(
        self, rule: str, names: Names, node: ast.AST, message: str, make: Maker, *args: Any
    ) -> Finding:
        """A finding that is carried out with --suggested."""
        return self._finding(rule, names, node, message, Applicability.SUGGESTED, make, args)

    def manual(self, rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
        """A finding that is left to the person, with what to write."""
        return _at(rule, names, node, message, Applicability.MANUAL, (), advice)

    def refused(self, rule: str, names: Names, node: ast.AST, message: str, advice: str) -> Finding:
        """A finding for which the whole program is left as it was."""
        return _at(rule, names, node, message, Applicability.REFUSED, (), advice)

    def _finding(
        self,
        rule: str,
        names: Names,
        node: ast.AST,
        message: str,
        applicability: Applicability,
        make: Maker,
        args: tuple[Any, ...],
    ) -> Finding:
        try:
            result = make(*args)
        except edit.CannotEdit as error:
            if isinstance(error, edit.SharesLine) and error.unfolds:
                if applicability is Applicability.SUGGESTED and not self.options.suggested:
                    return _at(rule, names, node, message, applicability, (), "")
                self.sharing.append(error)
            advice = f"{NOT_REWRITTEN} {error}; put it on lines of its own, or make the edit by hand"
            return _at(rule, names, node, message, Applicability.MANUAL, (), advice)
        made = (result,) if isinstance(result, Edit) else tuple(result)
        return _at(rule, names, node, message, applicability, made, "")


def _at(
    rule: str,
    names: Names,
    node: ast.AST,
    message: str,
    applicability: Applicability,
    edits: tuple[Edit, ...],
    advice: str,
) -> Finding:
    line, column = _place(names, node)[1:]
    cell, inside = names.source.cell_line(line)
    path = names.source.path
    return Finding(rule, path, inside, column + 1, message, applicability, edits, advice, cell, line)


def _place(names: Names, node: ast.AST) -> tuple[str, int, int]:
    return str(names.source.path), getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def _of_horovod(names: Names, call: ast.Call) -> bool:
    """Whether a process group is given Horovod's rank: as an argument, or in the environment above."""
    given = [keyword(call, "rank")]
    for other in names.calls.get("update", ()):
        if names.function(other) is names.function(call) and other.lineno < call.lineno:
            given.append(keyword(other, "RANK"))
    return any(
        isinstance(part, ast.Call) and not words.HVD_RANK.isdisjoint(names.qualified(part.func))
        for value in given
        if value is not None
        for part in ast.walk(value)
    )


def _is_value(names: Names, top: str, module: str) -> bool:
    """Whether a file reads a module of a package for itself, not for something in it."""
    return any(module == whole for name in names.imported(top) for _, whole in names.readings(name))
