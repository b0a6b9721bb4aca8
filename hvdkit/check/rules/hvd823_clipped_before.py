"""HVD823: gradients are clipped or read while they are being reduced."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from hvdkit.check.horovod import MAX_CALLERS
from hvdkit.check.windows import first_reader, skips, synchronized, wait_before, windows, windows_under
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import FUNCTIONS, Names


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        reader = first_reader(facts, window)
        if reader is None:
            continue
        message = "these gradients are still being reduced between the ranks, and are read or changed here"
        if skips(window) or synchronized(facts, window) is not None:
            advice = "call optimizer.synchronize() between backward() and this line"
            yield manual("HVD823", window.names, reader, message, advice)
        else:
            yield safe(facts, "HVD823", window.names, reader, message, wait_before, window, reader)
    for window, tests in windows_under(facts):
        reader = first_reader(facts, window)
        if reader is None or synchronized(facts, window) is not None or skips(window):
            continue
        inside = [node.test for node in ast.walk(reader) if isinstance(node, ast.If)]
        if not _variables(tests) & _variables([*inside, *_around(facts, window.names, window.step.call)]):
            message = "under Horovod these gradients are still being reduced here"
            advice = (
                "under Horovod call optimizer.synchronize() above this line, and step() under "
                "optimizer.skip_synchronize()"
            )
            yield manual("HVD823", window.names, reader, message, advice)


def _around(facts: Facts, names: Names, node: ast.AST, depth: int = 0) -> Iterator[ast.expr]:
    """The tests that a node stands under, and the calls of its function."""
    for parent in names.ancestors(node):
        if isinstance(parent, ast.If):
            yield parent.test
        if isinstance(parent, FUNCTIONS):
            for where, call in facts.flow.call_sites(names, parent) if depth < MAX_CALLERS else ():
                yield from _around(facts, where, call, depth + 1)
            return


def _variables(tests: Iterable[ast.expr]) -> set[str]:
    """What tests are made of: `horovod` of `args.horovod`."""
    parts = [part for test in tests for part in ast.walk(test)]
    holders = {id(part.value) for part in parts if isinstance(part, ast.Attribute)}
    attributes = {part.attr for part in parts if isinstance(part, ast.Attribute)}
    return attributes | {part.id for part in parts if isinstance(part, ast.Name) and id(part) not in holders}


RULE = Rule(
    id="HVD823",
    title="gradients are clipped before they are reduced",
    what=(
        "The norm is that of one rank's gradients, some of them already averaged and some not; each rank "
        "clips by a different factor, and reductions in flight overwrite the result. In a small test the "
        "numbers often look right."
    ),
    why=(
        "Horovod reduces in the background, from backward() to step(). Code that reads gradients in between "
        "has to wait: optimizer.synchronize(), and then step() under optimizer.skip_synchronize()."
    ),
    safety="Safe: it is the order that Horovod's documentation gives. Left to you where clipping and step are under different tests, or the optimizer is wrapped under one.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                optimizer.zero_grad()
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for x in batches:
                model(x).sum().backward()
                optimizer.synchronize()
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                with optimizer.skip_synchronize():
                    optimizer.step()
            """,
            reason="the gradients are waited for",
        ),
    ),
)
