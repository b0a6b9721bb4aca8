"""HVD839: broadcast_parameters is given a generator."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import argument, called
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names


def check(facts: Facts) -> Iterator[Finding]:
    for site in called(facts, "broadcast_parameters", modules=("horovod.torch",)):
        given = argument(site.node, 0, "params")
        if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and not given.args:
            if given.func.attr in ("parameters", "named_parameters") and not given.keywords:
                message = (
                    f"{given.func.attr}() is a generator, which broadcast_parameters refuses: ValueError"
                )
                yield safe(facts, "HVD839", site.names, site.node, message, _states, site.names, given)


def _states(names: Names, given: ast.Call) -> Edit:
    assert isinstance(given.func, ast.Attribute)
    return edits.replace(names.source, given, f"{names.source.segment(given.func.value)}.state_dict()")


RULE = Rule(
    id="HVD839",
    title="broadcast_parameters(model.parameters())",
    what="It raises \"invalid params of type: <class 'generator'>\".",
    why="it accepts a dictionary or a list, although its documentation names model.parameters().",
    safety="Safe: model.state_dict() is what Horovod's examples give; it sends the buffers, too.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd

            hvd.init()
            hvd.broadcast_parameters(model.parameters(), root_rank=0)
            """,
            """\
            import horovod.torch as hvd

            hvd.init()
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd

            hvd.init()
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            hvd.broadcast_parameters(list(model.parameters()), root_rank=0)
            """,
            reason="both are accepted",
        ),
    ),
)
