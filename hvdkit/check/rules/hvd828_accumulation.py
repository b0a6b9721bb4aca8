"""HVD828: gradients add up over more backward passes than the optimizer was told of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.check.horovod import argument, number, wraps
from hvdkit.check.windows import Window, synchronized, windows
from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.values.arguments import unpacks
from hvdkit.source.index.names import FUNCTIONS


def check(facts: Facts) -> Iterator[Finding]:
    for window in windows(facts):
        every = _every(window)
        if every is None or synchronized(facts, window) is not None or not _in_loop(window):
            continue
        values = facts.flow.values(window.names, window.step.target)
        for wrap in wraps(facts):
            told = argument(wrap.node, 3, "backward_passes_per_step")
            if wrap.value not in values or unpacks(wrap.node):
                continue
            text = window.names.source.segment(every)
            message = f"backward() runs {text} times before a step, and the optimizer is set to one"
            if told is None and number(every) is not None:
                yield safe(
                    facts,
                    "HVD828",
                    wrap.names,
                    wrap.node,
                    message,
                    edits.add_arguments,
                    wrap.names.source,
                    wrap.node,
                    [f"backward_passes_per_step={text}"],
                )
            elif told is None:
                advice = f"give the optimizer backward_passes_per_step={text}"
                yield manual("HVD828", wrap.names, wrap.node, message, advice)
            elif None not in (number(told), number(every)) and number(told) != number(every):
                message = f"backward() runs {text} times before a step, and the optimizer is set to a different number"
                advice = f"give the optimizer backward_passes_per_step={text}"
                yield manual("HVD828", wrap.names, told, message, advice)


def _every(window: Window) -> ast.expr | None:
    """N of the `% N` in the test that a step stands under, and backward() does not."""
    for test in window.tests:
        for part in ast.walk(test.test):
            if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and _compared(window, part):
                return part.right
    return None


def _compared(window: Window, part: ast.BinOp) -> bool:
    """`i % N == 0` and `not i % N`: true once in N passes."""
    parent = window.names.parents[part]
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Eq)


def _in_loop(window: Window) -> bool:
    """Whether the backward pass is repeated by the innermost loop around the step."""
    for parent in window.names.ancestors(window.statement):
        if isinstance(parent, (ast.For, ast.While)):
            return parent in window.names.ancestors(window.backward)
        if isinstance(parent, FUNCTIONS):
            return False
    return False


RULE = Rule(
    id="HVD828",
    title="gradient accumulation without backward_passes_per_step",
    what=(
        'The second backward() raises "Gradients were computed more than backward_passes_per_step times before '
        'call to step()".'
    ),
    why="the reduction starts in backward(); with more than one pass before a step, Horovod has to know the last.",
    safety="Safe where the number is a literal; otherwise the argument is named. A shorter window at the end is fine.",
    check=check,
    changes=(
        Change(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            for i, x in enumerate(batches):
                (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
            """,
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1), backward_passes_per_step=4)
            for i, x in enumerate(batches):
                (model(x).sum() / 4).backward()
                if (i + 1) % 4 == 0:
                    optimizer.step()
                    optimizer.zero_grad()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            optimizer = hvd.DistributedOptimizer(
                torch.optim.SGD(model.parameters(), lr=0.1), backward_passes_per_step=args.every
            )
            for i, x in enumerate(batches):
                model(x).sum().backward()
                if (i + 1) % args.every == 0:
                    optimizer.step()
            """,
            reason="it was set",
        ),
    ),
)
