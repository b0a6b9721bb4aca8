"""Where optimizers step, where their gradients are made, and whether anything looks at them in between.

DDP has averaged the gradients when backward() returns; Horovod has not before step(). Where nothing looks at
them between one backward and its step the two cannot be told apart. Everywhere else the reduction has to be
waited for where DDP did it, right after backward. This module finds out which; rule HVD404 writes it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from hvdkit.migrate.facts.code.loops import backward_files
from hvdkit.migrate.facts.code.running import walk_here
from hvdkit.migrate.facts.facts import Facts
from hvdkit.migrate.facts.models.losses import reached_models
from hvdkit.migrate.facts.models.optimizers import Optimizer
from hvdkit.migrate.facts.models.repeated_passes import runs_repeatedly
from hvdkit.migrate.facts.models.step_groups import Backward, Group, Region, Step, region_of
from hvdkit.migrate.facts.models.syncing import Sync, says_when, sync_of
from hvdkit.migrate.facts.models.trained_tensors import passes_of
from hvdkit.migrate.facts.once import once
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.optimizers.gradient_readers import gradient_use
from hvdkit.migrate.facts.optimizers.optimizer_wrappers import optimizer_wrappers
from hvdkit.migrate.facts.optimizers.passes_for_others import OTHERS, PassesForOthers
from hvdkit.migrate.facts.optimizers.step_calls import step_calls
from hvdkit.migrate.values.value import Value
from hvdkit.source.index.names import FUNCTIONS, LOOPS, Names
from hvdkit.source.index.statements import statements_above, statements_below

MAX_CALLERS = 6

LOOKED_AT = "the gradients are read before the step"
ADD_UP = "several backward passes accumulate before a step"
LEFT_OUT = "a step can be skipped after a backward pass"
UNSCALED = "apex unscales the gradients when amp.scale_loss() ends"
SCALED = "the GradScaler reads the gradients before it steps"
AROUND = "an object around the optimizer reads the gradients before it steps"


class Steps:
    """Groups of steps, and what lies between them and their backward passes."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._calls = step_calls(facts)
        self._gradients = gradient_use(facts)
        self._reached: dict[ast.Call, frozenset[Value]] = {}
        self._said: dict[Region, Sync] = {}

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The steps: those of the same optimizers in the same function taken together."""
        sets: list[frozenset[Value]] = []
        for step in self._calls.steps:
            joint = step.optimizers.union(*(members for members in sets if members & step.optimizers))
            sets = [members for members in sets if not members & step.optimizers] + [joint]
        return tuple(group for members in sets for group in self._windows(members, len(sets) > 1))

    def looks_before(self, names: Names, call: ast.Call) -> bool:
        """Whether a statement between a step and the backward pass above it looks at gradients.

        The step may stand in blocks of its own: `for optimizer in optimizers: optimizer.step()`.
        """
        statement: ast.AST = names.statement(call)
        while isinstance(statement, ast.stmt) and not isinstance(statement, FUNCTIONS):
            parent = names.parents[statement]
            for above in reversed(statements_above(names, statement)):
                if self._calls.runs_backward(above):
                    return False
                if self._gradients.looked_at(names, above):
                    return True
            statement = parent
        return False

    @cached_property
    def _others(self) -> PassesForOthers:
        return PassesForOthers(self._facts, self._calls.steps, self._calls.leads, self._reaches)

    @cached_property
    def _looked_at_around(self) -> frozenset[Value]:
        """Optimizers whose gradients an object around them looks at."""
        return frozenset().union(*(a.optimizers for a in optimizer_wrappers(self._facts) if a.looks))

    # --- one group -----------------------------------------------------------------------------

    def _windows(self, members: frozenset[Value], one_of_several: bool) -> Iterator[Group]:
        """One group per function in which these optimizers' backward passes and steps meet."""
        own = {step.call for step in self._calls.steps if step.optimizers & members}
        rivals = members if one_of_several else frozenset()
        meeting: dict[Region, list[tuple[Names, ast.Call, Step]]] = defaultdict(list)
        for step in self._calls.steps:
            if step.optimizers & members:
                names, region, anchor = self._together(step, own, rivals)
                meeting[region].append((names, anchor, step))
        for region, steps in meeting.items():
            backwards = self._in_region(steps[0][0], region, own, rivals)
            passes = {backward.call for backward in backwards}
            beside = self._others.beside({step.call for _, _, step in steps}, passes, rivals)
            yield self._group(members, own, backwards, steps, beside)

    def _group(
        self,
        members: frozenset[Value],
        own: set[ast.Call],
        backwards: Sequence[Backward],
        steps: Sequence[tuple[Names, ast.Call, Step]],
        beside: tuple[Backward, ...],
    ) -> Group:
        around = bool(members & self._looked_at_around)
        reasons = [AROUND] if around else []
        reducing = tuple(b for b in backwards if b.sync is Sync.ALWAYS)
        tested = any(b.sync is Sync.TESTED for b in backwards)
        places: list[tuple[Names, ast.stmt]] = []
        for names, anchor, step in steps:
            first = self._first_reader(names, anchor)
            if step.scaled:
                reasons.append(SCALED)
            elif backwards and not reducing and first is not None:
                reasons.append(LOOKED_AT)
            places.append((names, first or names.statement(anchor)))
        reasons += [self._open(steps[0][0], backward.anchor, own) for backward in reducing]
        if any(runs_repeatedly(backward, reducing) for backward in reducing):
            reasons.append(ADD_UP)
        if beside:
            reasons.append(OTHERS)
        reason = next((reason for reason in reasons if reason), "")
        before = dict.fromkeys(places) if reason and (tested or (backwards and not reducing)) else {}
        own_steps = tuple(step for _, _, step in steps)
        postponed = len(reducing) < len(backwards)
        unreduced = bool(backwards) and all(backward.sync is Sync.NEVER for backward in backwards)
        after = reducing + beside
        return Group(members, own_steps, reason, after, tuple(before), postponed, unreduced)

    def _together(
        self, step: Step, own: set[ast.Call], rivals: frozenset[Value]
    ) -> tuple[Names, Region, ast.Call]:
        """The innermost function, from the step's own outwards, that holds a backward pass besides it."""
        waiting = [(step.names, step.call, 0)]
        if self._calls.leads[step.call] - own:  # with a closure, the step makes its backward passes itself
            waiting = []
        for names, anchor, depth in waiting:
            region = region_of(names, anchor)
            if self._in_region(names, region, own, rivals):
                return names, region, anchor
            if not isinstance(region, ast.Module) and depth < MAX_CALLERS:
                sites = self._facts.flow.call_sites(names, region)
                waiting += [(where, site, depth + 1) for where, site in sites]
        return step.names, region_of(step.names, step.call), step.call

    def _in_region(
        self, names: Names, region: Region, own: set[ast.Call], rivals: frozenset[Value]
    ) -> list[Backward]:
        """Backward passes that a function makes, itself or through a call that does not step as well.

        rivals: the optimizers asked about, where others make gradients too; those of others are left out.
        """
        by_call = backward_files(self._facts)
        found: list[Backward] = []
        for node in self._calls.calls_here(region):
            origins = self._calls.leads.get(node, set())
            if origins & own:
                continue
            for origin in sorted(origins & by_call.keys(), key=lambda call: call.lineno):
                where = by_call[origin]
                said = sync_of(where, origin)
                sync = sync_of(names, node) if said is Sync.ALWAYS else said
                sync = self._callers_say(names, region) if sync is Sync.ALWAYS else sync
                found.append(Backward(where, origin, names, node, sync))
        found = [backward for backward in found if not self._too_early(names, backward.anchor, own)]
        return [backward for backward in found if not rivals or self._reaches(backward, rivals)]

    @cached_property
    def _any_says_when(self) -> bool:
        """Whether anything in the project says which backward passes reduce."""
        return any(says_when(names) for names in self._facts.files)

    def _callers_say(self, names: Names, region: Region) -> Sync:
        """Whether a function's backward passes reduce, by where it is called: `with model.no_sync(): f()`."""
        if not self._any_says_when or isinstance(region, ast.Module):
            return Sync.ALWAYS
        if region not in self._said:
            self._said[region] = Sync.ALWAYS  # of a function that calls itself, the other calls decide
            every = set()
            for where, site in self._facts.flow.call_sites(names, region):
                said = sync_of(where, site)
                above = region_of(where, site)
                every.add(self._callers_say(where, above) if said is Sync.ALWAYS else said)
            self._said[region] = every.pop() if len(every) == 1 else Sync.TESTED if every else Sync.ALWAYS
        return self._said[region]

    def _too_early(self, names: Names, anchor: ast.Call, own: set[ast.Call]) -> bool:
        """Whether a backward pass has run, once, when the optimizers that take these steps are made."""
        stepped = frozenset().union(*(step.optimizers for step in self._calls.steps if step.call in own))
        made = [optimizer for optimizer in averaging_optimizers(self._facts) if optimizer.value in stepped]
        if made and all(o.names is names and self._once_above(names, anchor, o.node) for o in made):
            return True
        here = [s for s in self._calls.steps if s.call in own and s.names is names]
        return any(
            isinstance(step.target, ast.Name) and self._unmade(names, anchor, step.target, made)
            for step in here
            if region_of(names, step.call) is region_of(names, anchor)
        )

    def _unmade(self, names: Names, anchor: ast.Call, target: ast.Name, made: Sequence[Optimizer]) -> bool:
        """Whether all that gives a variable its optimizer is a helper's call below, which makes it there."""
        makers = {optimizer.names.function(optimizer.node) for optimizer in made}
        bindings = names.bindings(target.id, target)
        return bool(bindings) and all(
            binding.kind == "assign"
            and isinstance(call := binding.value, ast.Call)
            and self._once_above(names, anchor, call)
            and not makers.isdisjoint(function for _, function in self._facts.flow.functions(names, call))
            for binding in bindings
        )

    def _once_above(self, names: Names, anchor: ast.Call, below: ast.AST) -> bool:
        """Whether a call stands above a node in the same function, and in no loop that comes back to it."""
        around = set(names.ancestors(anchor))
        return (
            region_of(names, below) is region_of(names, anchor)
            and anchor.lineno < getattr(below, "lineno", 0)
            and not any(isinstance(p, LOOPS) and p in around for p in names.ancestors(below))
        )

    def _reaches(self, backward: Backward, members: frozenset[Value]) -> bool:
        """Whether a backward pass makes gradients for these optimizers, among several."""
        alone = [self._passes.get(value) for value in members]
        if all(passes is not None for passes in alone):
            return any(backward.call in passes for passes in alone if passes is not None)
        if backward.call not in self._reached:
            self._reached[backward.call] = reached_models(self._facts, backward.names, backward.call)
        models = self._reached[backward.call]
        mine = [optimizer for optimizer in averaging_optimizers(self._facts) if optimizer.value in members]
        trained = frozenset().union(*(optimizer.models for optimizer in mine))
        return not models or not trained or bool(models & trained)

    @cached_property
    def _passes(self) -> dict[Value, frozenset[ast.Call] | None]:
        """The backward passes that reach the tensors of each optimizer that trains no model."""
        return {o.value: passes_of(self._facts, o) for o in averaging_optimizers(self._facts) if not o.roots}

    # --- from one backward to its step ---------------------------------------------------------

    def _open(self, names: Names, anchor: ast.Call, own: set[ast.Call]) -> str:
        """Why step() may not do the reduction of a backward pass; empty when it may."""
        statement: ast.AST = names.statement(anchor)
        while True:
            parent = names.parents[statement]
            verdict = self._scan(names, statements_below(names, statement), own)
            if verdict is not None:
                return verdict
            if self._unscales(names, parent):
                return UNSCALED
            if not isinstance(parent, (ast.If, ast.With, ast.AsyncWith, ast.Try)):
                return ADD_UP if isinstance(parent, LOOPS) else LEFT_OUT
            statement = parent

    def _unscales(self, names: Names, node: ast.AST) -> bool:
        """Whether leaving a `with` divides the gradients by the scale of the loss."""
        items = node.items if isinstance(node, ast.With) else []
        calls = [item.context_expr for item in items if isinstance(item.context_expr, ast.Call)]
        return any("apex.amp.scale_loss" in self._facts.flow.qualified(names, call.func) for call in calls)

    def _scan(self, names: Names, statements: Iterable[ast.stmt], own: set[ast.Call]) -> str | None:
        """What follows: the step (""), a reason against leaving the reduction to it, or neither (None)."""
        backwards = backward_files(self._facts).keys()
        for statement in statements:
            calls = self._calls.calls_here(statement)
            runs = set().union(*(self._calls.leads.get(call, ()) for call in calls))
            if runs & backwards and not runs & own:
                return OTHERS if len(self._calls.steps) > len(own) else ADD_UP
            if self._gradients.looked_at(names, statement):
                return LOOKED_AT
            if runs & own:
                return self._stepping(names, statement, own)
            if any(isinstance(part, (ast.Continue, ast.Break, ast.Return)) for part in walk_here(statement)):
                return LEFT_OUT
        return None

    def _stepping(self, names: Names, statement: ast.stmt, own: set[ast.Call]) -> str:
        """Whether a statement that holds the step always runs it."""
        if isinstance(statement, (ast.With, ast.AsyncWith, ast.For, ast.AsyncFor)):
            inside = self._scan(names, statement.body, own)
            return LEFT_OUT if inside is None else inside
        if isinstance(statement, ast.If):
            branches = [self._scan(names, block, own) for block in (statement.body, statement.orelse)]
            return next((LEFT_OUT if branch is None else branch for branch in branches if branch != ""), "")
        return LEFT_OUT if isinstance(statement, (ast.While, ast.Try)) else ""

    def _first_reader(self, names: Names, anchor: ast.Call) -> ast.stmt | None:
        """The first statement of the step's block, after any backward pass, that looks at gradients."""
        statement = names.statement(anchor)
        first = None
        for earlier in reversed(statements_above(names, statement)):
            if self._calls.runs_backward(earlier):
                break
            if self._gradients.looked_at(names, earlier):
                first = earlier
        return first


@once
def steps_of(facts: Facts) -> Steps:
    """Optimizer steps, and how the gradients come to them."""
    return Steps(facts)
