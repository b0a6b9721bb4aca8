"""Devices that a distributed script takes from its command line, where its own launcher put them."""

from __future__ import annotations

import ast

from hvdkit.migrate import edits
from hvdkit.migrate.facts.facts import Facts, Site
from hvdkit.migrate.facts.init.init_order import has_rank
from hvdkit.migrate.facts.launch.launch import launch_of
from hvdkit.migrate.facts.launch.launch_reach import launch_reach, tests_around
from hvdkit.source.index.names import Names


def only_given(facts: Facts, site: Site) -> bool:
    """Whether a device comes from options that are no rank, where a job of several may choose it."""
    names, index = site.names, site.node.args[0]
    origins = set(launch_of(facts).origins(names, index))
    if not origins or launch_of(facts).meaning(names, index) or any(o.kind != "option" for o in origins):
        return False
    for test, wanted in tests_around(names, site.node):
        asked = test.left if isinstance(test, ast.Compare) else test
        given = (
            set(launch_of(facts).origins(names, asked)) <= origins
        )  # `if args.gpu is not None:` lets it through
        if not given and launch_reach(facts).holds(names, test) is (not wanted):
            return False
    return True


def chosen_alone(facts: Facts, site: Site) -> bool:
    """Whether the option chooses the device of its process and nothing else, after Horovod has started."""
    names, statement = site.names, site.names.statement(site.node)
    options = [part for part in ast.walk(site.node.args[0]) if isinstance(part, ast.Attribute)]
    if len(options) != 1 or not isinstance(site.node.func, ast.Attribute):
        return False
    asked = asks_for_it(names, statement, options[0])
    here = {*ast.walk(site.node), *(ast.walk(asked.test) if asked is not None else ())}
    elsewhere = [use for where in facts.files for use in where.attributes.get(options[0].attr, ())]
    return all(use in here for use in elsewhere) and has_rank(facts, names, statement)


def asks_for_it(names: Names, statement: ast.stmt, option: ast.Attribute) -> ast.If | None:
    """The `if args.gpu is not None:` that holds a statement alone, and asks for nothing but its option."""
    parent = names.parents[statement]
    if not isinstance(parent, ast.If) or parent.orelse or edits.block(names, statement) != [statement]:
        return None
    test = parent.test
    asked = test.left if isinstance(test, ast.Compare) and len(test.ops) == 1 else test
    plain = not isinstance(test, ast.Compare) or isinstance(test.comparators[0], (ast.Constant, ast.UnaryOp))
    return parent if plain and ast.dump(asked) == ast.dump(option) else None
