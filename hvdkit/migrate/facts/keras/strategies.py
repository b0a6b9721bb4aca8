"""Distribution strategies: where they are made, and every use of them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from hvdkit.dataclass import dataclass
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.keras import vocabulary as words
from hvdkit.source.index.names import Names

KNOWN = frozenset(
    (
        "scope",
        "run",
        "experimental_run_v2",
        "reduce",
        "gather",
        "experimental_local_results",
        "num_replicas_in_sync",
        "experimental_distribute_dataset",
        "distribute_datasets_from_function",
        "experimental_distribute_datasets_from_function",
    )
)
RESOLVER = "cluster_resolver"
ASKED = ("task_type", "task_id", "cluster_spec")  # which process this is, and which there are


@dataclass(frozen=True)
class Use:
    """`strategy.attribute`, of what may be a mirrored strategy."""

    names: Names
    node: ast.Attribute

    @property
    def call(self) -> ast.Call | None:
        """The call `strategy.attribute(...)`."""
        parent = self.names.parents.get(self.node)
        return parent if isinstance(parent, ast.Call) and parent.func is self.node else None

    @property
    def asked(self) -> ast.Attribute | None:
        """The `.task_id` of `strategy.cluster_resolver.task_id`, and its like."""
        parent = self.names.parents.get(self.node)
        known = isinstance(parent, ast.Attribute) and parent.attr in ASKED
        return parent if known and self.node.attr == RESOLVER else None  # type: ignore[return-value]


@dataclass(frozen=True)
class Strategies:
    """made: constructions. uses: by attribute. handed: expressions that pass a strategy on in the project.

    strange: expressions that do something with a strategy that is not known to have a counterpart.
    """

    made: tuple[Site, ...]
    uses: tuple[Use, ...]
    handed: tuple[tuple[Names, ast.expr], ...]
    strange: tuple[tuple[Names, ast.expr], ...]

    def of(self, *attributes: str) -> list[Use]:
        """The uses of some attributes."""
        return [use for use in self.uses if use.node.attr in attributes]


def find_strategies(facts: Facts, files: Sequence[Names]) -> Strategies:
    """The mirrored strategies of some files."""
    made = tuple(site for site in facts.calls(*words.MIRRORED) if site.names in files)
    uses: list[Use] = []
    handed: list[tuple[Names, ast.expr]] = []
    strange: list[tuple[Names, ast.expr]] = []
    for names in files if made else ():
        for node in _reads(names):
            if not any(v.kind == "made" and v.name in words.MIRRORED for v in facts.flow.values(names, node)):
                continue
            parent = names.parents.get(node)
            if isinstance(parent, ast.Attribute):
                use = Use(names, parent)
                called = use.call is not None or parent.attr == "num_replicas_in_sync"
                if (parent.attr in KNOWN and called) or use.asked is not None:
                    uses.append(use)
                else:
                    strange.append((names, parent))
            elif _stays(facts, names, node, parent):
                handed.append((names, node))
            else:
                strange.append((names, node))
    return Strategies(made, tuple(uses), tuple(handed), tuple(strange))


def _reads(names: Names) -> list[ast.expr]:
    """Variables, attributes and calls that are read."""
    every: list[ast.expr] = [use for uses in names.uses.values() for use in uses]
    every += [attribute for attributes in names.attributes.values() for attribute in attributes]
    every += names.of_kind(ast.Call)
    return [node for node in every if not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))]


def _stays(facts: Facts, names: Names, node: ast.expr, parent: ast.AST | None) -> bool:
    """Whether a strategy goes to a variable or a function of the project."""
    if isinstance(parent, ast.keyword):
        parent = names.parents[parent]
    if isinstance(parent, ast.Call):
        return parent.func is not node and bool(facts.flow.functions(names, parent))
    if isinstance(parent, (ast.Assign, ast.AnnAssign, ast.Return, ast.NamedExpr)):
        return True
    return isinstance(parent, ast.IfExp) and node is not parent.test


def plain_variable(names: Names, call: ast.Call) -> ast.stmt | None:
    """The statement `strategy = tf.distribute.MirroredStrategy()` around a construction."""
    statement = names.parents.get(call)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement if isinstance(statement.targets[0], ast.Name) else None
    return None
