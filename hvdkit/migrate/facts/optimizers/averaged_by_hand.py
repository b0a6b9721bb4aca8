"""Gradients that a program averages without DDP, and whether that is what DDP and Horovod do.

It is where every backward pass of a model is followed, before anything looks at the gradients, by statements
that average all of them (averaging_statements.py), or where hooks do that (averaging_hooks.py). What cannot
be proven is a problem, with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.averages.averaging_hooks import averaged_by_hooks
from hvdkit.migrate.facts.averages.averaging_statements import Averaged, averaged_by_statements
from hvdkit.migrate.facts.code.loops import backward_calls, backward_files
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.code.unused import mentions_of, unused, unused_without
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.launch.several_processes import holds_in_jobs
from hvdkit.migrate.facts.models.gradient_collectives import hand_reductions
from hvdkit.migrate.facts.models.gradient_expressions import NotAveraged
from hvdkit.migrate.facts.models.gradient_reads import GradientUse
from hvdkit.migrate.facts.models.losses import reached_models
from hvdkit.migrate.facts.models.model_parts import is_attribute_of
from hvdkit.migrate.facts.models.optimizers import Optimizer, every_optimizer
from hvdkit.migrate.facts.models.wraps import Wrap
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.facts.programs.programs import files_with, programs_of
from hvdkit.migrate.index.names import FUNCTIONS, LOOPS, FunctionNode, Names
from hvdkit.migrate.index.statements import statements_above
from hvdkit.migrate.values.arguments import passed
from hvdkit.migrate.values.binding_order import last_binding
from hvdkit.migrate.values.value import Value

_NO_GRAD = {"torch.no_grad", "torch.inference_mode"}
IN_ALL = "more is done to gradients or steps, or this is excluded from rewriting"
_LEAVES = (ast.Continue, ast.Break, ast.Return)


@dataclass(frozen=True)
class Averaging:
    """Statements that average after a backward pass. site: their all_reduce.

    statement: what goes; function: what it calls, if anything. models: whose gradients it averages.
    backwards: the passes that it follows.
    """

    site: Site
    names: Names
    statement: ast.stmt
    call: ast.Call | None
    function: FunctionNode | None
    models: frozenset[Value]
    notes: tuple[str, ...]
    backwards: frozenset[ast.Call] = frozenset()


@dataclass(frozen=True)
class Hooking:
    """A call that makes a model average by hooks, as a wrap, with its function, and the all_reduce inside."""

    site: Site
    wrap: Wrap
    function: ast.FunctionDef
    notes: tuple[str, ...]

    @property
    def call(self) -> ast.Call:
        """The call that goes."""
        return self.wrap.node


class ByHand:
    """What a project averages by hand, and what of it goes. problems: the collectives that stay, and why."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.problems: list[tuple[Site, NotAveraged]] = []
        self.hookings: list[Hooking] = []
        training = {names for names, _ in backward_calls(facts)}
        seen = {
            names for program in programs_of(facts) if training & program.files for names in program.files
        }
        found: list[Averaging] = []
        for site in hand_reductions(facts):
            if site.names in seen and unused(facts, site.names, site.node):
                continue
            try:
                found += self._found(site)
            except NotAveraged as problem:
                self.problems.append((site, problem))
        self.gone: frozenset[ast.AST] = frozenset(averaging.statement for averaging in found)
        self._gradients = GradientUse(facts, self.gone)
        self.averagings = self._proven(found)
        self._leave_literal()

    def _leave_literal(self) -> None:
        """In a program that is said literally all of it stays, and no optimizer averages beside it."""
        literal = after_backward(self._facts).files
        every: list[Averaging | Hooking] = [*self.averagings, *self.hookings]
        self.problems += [
            (one.site, NotAveraged(one.site.names, one.site.node, IN_ALL))
            for one in every
            if one.site.names in literal
        ]
        self.averagings = tuple(one for one in self.averagings if one.site.names not in literal)
        self.hookings = [one for one in self.hookings if one.site.names not in literal]
        self.gone = frozenset(averaging.statement for averaging in self.averagings)

    @cached_property
    def models(self) -> frozenset[Value]:
        """The models whose gradients are averaged by hand, as it can be proven."""
        hooks = (hooking.wrap.models for hooking in self.hookings)
        return frozenset().union(*(averaging.models for averaging in self.averagings), *hooks)

    def unneeded(self, found: Sequence[Averaging | Hooking]) -> Iterator[tuple[Names, ast.FunctionDef]]:
        """The functions of averagings or hookings that have no use left, each once."""
        every: list[Averaging | Hooking] = [*self.averagings, *self.hookings]
        calls = [one.call for one in every if one.call is not None]
        functions = {
            one.function: one.site.names for one in found if isinstance(one.function, ast.FunctionDef)
        }
        for function, names in functions.items():
            if unused_without(self._facts, names, function, calls):
                yield names, function

    def concerns(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer's gradients are averaged by hand, in whichever way."""
        return self._concerns(optimizer, self.models)

    def trains(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer's gradients are averaged by statements after the backward pass."""
        return any(self._concerns(optimizer, averaging.models) for averaging in self.averagings)

    # --- what is averaged ----------------------------------------------------------------------

    def _found(self, site: Site) -> list[Averaging]:
        name = site.name.rpartition(".")[2]
        if name != "all_reduce":
            raise NotAveraged(site.names, site.node, f"they use {name}, not all_reduce")
        names, function = site.names, site.names.function(site.node)
        outer = names.function(function) if function is not None else None
        if isinstance(outer, ast.FunctionDef) and _registers(names, outer):
            self._hooks(site, outer)
            return []
        region = function if function is not None else names.source.tree
        if any(call in backward_files(self._facts) for call in walk_here(region)):
            return [self._inline(site)]
        if function is None:
            raise NotAveraged(site.names, site.node, "no backward pass is seen in this file's own statements")
        body = function.body if isinstance(function.body, list) else []
        result = averaged_by_statements(self._facts, names, body, function)
        return [
            self._called(site, function, result, where, call) for where, call in self._calls(names, function)
        ]

    def _calls(self, names: Names, function: FunctionNode) -> list[tuple[Names, ast.Call]]:
        """The calls of a function, when it is used in no other way."""
        sites = self._facts.flow.call_sites(names, function)
        if not sites:
            raise NotAveraged(names, function, "no call of it was found")
        for decorator in getattr(function, "decorator_list", ()):
            made = decorator.func if isinstance(decorator, ast.Call) else decorator
            if not _NO_GRAD & set(names.qualified(made)):
                raise NotAveraged(names, decorator, "the effect of this decorator is not known")
        for where, call in sites:
            if {found for _, found in self._facts.flow.functions(where, call)} != {function}:
                raise NotAveraged(where, call, "a different function may also run here")
        self._not_overridden(names, function)
        called = {call.func for _, call in sites}
        for where, node in mentions_of(self._facts, names, function):  # type: ignore[arg-type]
            if not isinstance(node, ast.alias) and node not in called:
                raise NotAveraged(where, node, "it is passed on here, to be called elsewhere")
        return sites

    def _not_overridden(self, names: Names, function: FunctionNode) -> None:
        """Raise NotAveraged where a method's class is not the only one with a method of the name."""
        name = getattr(function, "name", "")
        for where in self._facts.files if isinstance(names.parents[function], ast.ClassDef) else ():
            for node, scope in where.scopes.items():
                for binding in scope.names.get(name, ()) if isinstance(node, ast.ClassDef) else ():
                    if binding.node is not function:
                        raise NotAveraged(where, binding.node, "a different class has a method of this name")

    def _called(
        self, site: Site, function: FunctionNode, result: Averaged, where: Names, call: ast.Call
    ) -> Averaging:
        statement = where.statement(call)
        if not isinstance(statement, ast.Expr) or statement.value is not call:
            raise NotAveraged(where, call, "its call is part of another statement")
        names, root = site.names, result.root
        head = root.id if isinstance(root, ast.Name) else ""
        if result.given or [b.kind for b in names.bindings(head, root)] == ["param"]:
            given = passed(names, function, where, call, head)
            names, root = where, _of_parameters(given) if result.given else given  # type: ignore[assignment]
        if root is None:
            raise NotAveraged(where, call, "whose parameters are averaged is not seen")
        models = self._models(names, root)
        return Averaging(site, where, statement, call, function, models, result.notes)

    def _inline(self, site: Site) -> Averaging:
        """The statement below a backward pass, in the same block, that holds the all_reduce."""
        statement: ast.AST = site.names.statement(site.node)
        while not any(self._passes(s) for s in statements_above(site.names, statement)):
            statement = site.names.parents[statement]
            if isinstance(statement, (ast.Module, *FUNCTIONS)):
                raise NotAveraged(
                    site.names, site.node, "there is no backward pass above it in the same block"
                )
        assert isinstance(statement, ast.stmt)
        result = averaged_by_statements(self._facts, site.names, [statement], statement)
        if result.given:
            raise NotAveraged(site.names, result.root, "whose parameters are averaged is not seen")
        needed = next(_needed(site.names, statement), None)
        if needed is not None:
            raise NotAveraged(site.names, needed, f"`{needed.id}`, which they set, is read here")
        models = self._models(site.names, result.root)
        return Averaging(site, site.names, statement, None, None, models, result.notes)

    def _models(self, names: Names, root: ast.expr) -> frozenset[Value]:
        models = self._facts.flow.unwrap(self._facts.flow.values(names, root))
        if not models or any(model.kind not in ("made", "object") for model in models):
            raise NotAveraged(names, root, f"which model `{names.source.segment(root)}` is, is not seen")
        return models

    def _hooks(self, site: Site, function: ast.FunctionDef) -> None:
        result = averaged_by_hooks(self._facts, site.names, function)
        for where, call in self._calls(site.names, function):
            if len(call.args) + len(call.keywords) != 1:
                raise NotAveraged(where, call, "whose parameters are averaged is not seen")
            model = call.args[0] if call.args else call.keywords[0].value
            wrap = Wrap(where, call, function.name, model, self._models(where, model))
            self._whole(wrap.names, wrap.models)
            self.hookings.append(Hooking(site, wrap, function, result.notes))

    # --- when it is averaged -------------------------------------------------------------------

    def _proven(self, found: list[Averaging]) -> tuple[Averaging, ...]:
        placed: list[Averaging] = []
        for averaging in found:
            try:
                placed.append(replace(averaging, backwards=self._followed(averaging)))
            except NotAveraged as problem:
                self.problems.append((averaging.site, problem))
        proven: list[Averaging] = []
        for averaging in placed:
            mates = [other for other in placed if other.backwards == averaging.backwards]
            models = frozenset().union(*(mate.models for mate in mates))
            try:
                self._whole(averaging.names, models)
                self._always(averaging, placed)
            except NotAveraged as problem:
                self.problems.append((averaging.site, problem))
            else:
                proven.append(averaging)
        return tuple(proven)

    def _followed(self, averaging: Averaging) -> frozenset[ast.Call]:
        """The backward passes right above the statements. Raises NotAveraged where they may not follow."""
        names = averaging.names
        statement = guarded(self._facts, names, averaging.statement)
        for earlier in reversed(statements_above(names, statement)):
            if earlier in self.gone or _is_guard_of(earlier, self.gone):
                continue
            if self._gradients.looked_at(names, earlier):
                raise NotAveraged(names, earlier, "something reads the gradients before they are averaged")
            if any(isinstance(part, _LEAVES) for part in walk_here(earlier)):
                raise NotAveraged(
                    names, earlier, "the code that follows is skipped on some paths from the backward pass"
                )
            if self._steps(names, earlier):
                raise NotAveraged(names, earlier, "an optimizer steps before they are averaged")
            if step_calls(self._facts).runs_backward(earlier):
                return self._passes_in(names, earlier)
        raise NotAveraged(names, statement, "there is no backward pass above it in the same block")

    def _steps(self, names: Names, node: ast.stmt) -> bool:
        steps = {step.call for step in step_calls(self._facts).steps}
        return any(part in steps for part in walk_here(node))

    def _passes(self, node: ast.stmt) -> bool:
        return step_calls(self._facts).runs_backward(node)

    def _passes_in(self, names: Names, node: ast.stmt) -> frozenset[ast.Call]:
        """The backward passes of a statement, or of the function that it calls, each made once."""
        found: set[ast.Call] = set()
        for call in (part for part in walk_here(node) if isinstance(part, ast.Call)):
            inside = [(names, call)] if call in backward_files(self._facts) else []
            for where, function in () if inside else self._facts.flow.functions(names, call):
                inside += [(where, c) for c in where.calls_in(function) if c in backward_files(self._facts)]
            for where, backward in inside:
                if _in_loop(where, backward, node) or _in_loop(names, call, node):
                    raise NotAveraged(
                        names, node, "gradients of several backward passes accumulate before it"
                    )
                found.add(backward)
        if not found:
            raise NotAveraged(names, node, "the backward pass above it is too many calls away")
        return frozenset(found)

    def _always(self, averaging: Averaging, placed: list[Averaging]) -> None:
        """Raise NotAveraged where a backward pass of these models is not followed by an average."""
        covered = frozenset().union(*(a.backwards for a in placed if a.models == averaging.models))
        files = self._files(averaging.names)
        for call, names in backward_files(self._facts).items():
            if names in files and call not in covered:
                reached = reached_models(self._facts, names, call)
                if not reached or reached & averaging.models:
                    raise NotAveraged(names, call, "after this backward pass they are not averaged")

    def _whole(self, names: Names, models: frozenset[Value]) -> None:
        """Raise NotAveraged unless the optimizers of models train nothing else."""
        files = self._files(names)
        mine = [o for o in every_optimizer(self._facts) if o.names in files and self._concerns(o, models)]
        if not mine:
            raise NotAveraged(names, names.source.tree, "the optimizer of these parameters was not found")
        for optimizer in mine:
            if not optimizer.whole or (optimizer.models & models and not optimizer.models <= models):
                raise NotAveraged(
                    optimizer.names, optimizer.node, "this optimizer also trains other parameters"
                )

    def _concerns(self, optimizer: Optimizer, models: frozenset[Value]) -> bool:
        parts = any(is_attribute_of(self._facts, *root, models) for root in optimizer.roots)
        return bool(optimizer.models & models) or parts

    def _files(self, names: Names) -> set[Names]:
        return files_with(self._facts, names)


def guarded(facts: Facts, names: Names, statement: ast.stmt) -> ast.stmt:
    """A statement, or what begins with it: a `with`, a test that holds in every job of several processes."""
    parent = names.parents[statement]
    while isinstance(parent, (ast.If, ast.With)) and parent.body[0] is statement:
        if isinstance(parent, ast.If) and parent.orelse:
            break
        if isinstance(parent, ast.If) and not holds_in_jobs(facts, names, parent.test):
            text = names.source.segment(parent.test)
            raise NotAveraged(names, parent, f"they are averaged only where `{text}` holds")
        statement, parent = parent, names.parents[parent]
    return statement


def _registers(names: Names, function: ast.FunctionDef) -> bool:
    """Whether a function gives something a hook."""
    return any(getattr(call.func, "attr", "") == "register_hook" for call in names.calls_in(function))


def _is_guard_of(node: ast.stmt, gone: frozenset[ast.AST]) -> bool:
    return isinstance(node, (ast.If, ast.With)) and node.body[0] in gone and len(node.body) == 1


def _needed(names: Names, statement: ast.stmt) -> Iterator[ast.Name]:
    """The uses below a statement of what it assigns to, unless something else is assigned before each."""
    inside = set(names.walk(statement))
    stored = {part.id for part in inside if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    for name in sorted(stored):
        owner = names.scope(statement).owner(name)
        for use in names.uses.get(name, ()):
            if use in inside or names.scope(use).owner(name) is not owner:
                continue
            last = last_binding(names, use)
            around = (p.target for p in names.ancestors(use) if isinstance(p, ast.For))
            looped = any(getattr(part, "id", "") == name for target in around for part in ast.walk(target))
            if not looped and (last is None or last.node in inside):
                yield use


def _in_loop(names: Names, node: ast.AST, most: ast.AST) -> bool:
    """Whether a loop of the same function, inside `most`, goes round a node."""
    for parent in names.ancestors(node):
        if isinstance(parent, LOOPS):
            return True
        if parent is most or isinstance(parent, FUNCTIONS):
            return False
    return False


def _of_parameters(node: ast.expr | None) -> ast.expr | None:
    """x of `x.parameters()`, in list() or not."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("list", "tuple") and node.args:
        node = node.args[0]
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args
    return node.func.value if is_call and node.func.attr == "parameters" else None  # type: ignore[union-attr]


@once
def averages_by_hand(facts: Facts) -> ByHand:
    """Gradients that the programs average themselves, without DDP."""
    return ByHand(facts)
