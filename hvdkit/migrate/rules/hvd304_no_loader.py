"""HVD304: a single-process program that trains without a DataLoader computes the same batches on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.loops import Path
from hvdkit.migrate.facts.training import own_loaders, seeds, training_paths, unfollowed_loaders
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rule import Change, Keep, Rule

ADVICE = (
    "let each rank draw its own batches: add hvd.rank() to the seed of what is drawn at random, or take every "
    "hvd.size()-th batch from the hvd.rank()-th on"
)

UNFOLLOWED = (
    "give the DataLoader that feeds it a DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank()), in "
    "place of shuffle, and call set_epoch on that in each epoch"
)

OWN = (
    "pass sampler=DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank()) to super().__init__ "
    "for the training data, shuffle to the sampler, and call set_epoch on it in each epoch"
)


def check(facts: Facts) -> Iterator[Finding]:
    for program in facts.programs:
        paths = training_paths(facts, program)
        if program.kind != "single":
            continue
        for value in own_loaders(facts, program):
            message = "the project's own DataLoader class feeds this training: its samples must be divided"
            yield facts.manual("HVD304", value.names, value.node, message, OWN)
        if any(path.loaders for path in paths):
            continue
        if any(by_rank for _, _, by_rank in seeds(facts, program)):
            continue
        for path in paths[:1]:
            names, node = (
                (path.loops[0].names, path.loops[0].node) if path.loops else (path.names, path.backward)
            )
            loaders = unfollowed_loaders(facts, program)
            if loaders and _may_draw(path):
                place = f"{loaders[0].names.source.path.name}:{loaders[0].node.lineno}"
                message = f"whether the DataLoader of {place} feeds this training could not be followed: it is whole"
                yield facts.manual("HVD304", names, node, message, UNFOLLOWED)
                continue
            message = "no DataLoader feeds this training: every rank would compute the same batches"
            yield facts.manual("HVD304", names, node, message, ADVICE)


def _may_draw(path: Path) -> bool:
    """Whether a way to a backward pass begins where nobody was seen to call, or a loop on it draws batches."""
    return path.top is not None or any(
        isinstance(loop.node, ast.For)
        and not (isinstance(loop.node.iter, ast.Call) and getattr(loop.node.iter.func, "id", "") == "range")
        for loop in path.loops
    )


RULE = Rule(
    id="HVD304",
    title="training without a DataLoader",
    what="Reports the training loop of a single-process program in which no DataLoader was found.",
    why="N ranks with the same seed compute the same gradients N times: no error, and nothing is gained.",
    safety="Nothing is rewritten: how the batches are made only the author knows.",
    check=check,
    changes=(
        Change(
            """\
            import torch

            torch.manual_seed(1)
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
            f"""\
            import torch

            torch.manual_seed(1)
            # hvdkit: TODO[HVD304] {ADVICE}
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import unittest
            import torch
            from torch.autograd import Function

            class Norm(Function):
                @staticmethod
                def backward(ctx, gradient):
                    return extension.backward(gradient, ctx.eps)

            class NormTest(unittest.TestCase):
                def test_sum(self):
                    Norm.apply(torch.ones(2, requires_grad=True)).sum().backward()
            """,
            reason="a part of a backward pass, and a test of it, train nothing",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            setattr(state, "loader", DataLoader(data, shuffle=True))
            for x in state.loader:
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="a loader is there, and whether it is this one could not be followed",
            reported=True,
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            class Digits(DataLoader):
                def __init__(self, data):
                    super().__init__(data, batch_size=8, shuffle=True)

            for x in Digits(data):
                model(x).sum().backward()
                optimizer.step()
            """,
            reason="which of its objects train and which evaluate is decided at run time",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            torch.manual_seed(1 + hvd.rank())
            for step in range(100):
                model(torch.randn(8, 2)).sum().backward()
                optimizer.step()
            """,
            reason="every rank draws its own random numbers",
        ),
        Keep(
            """\
            import torch
            from torch.utils.data import DataLoader

            for x in DataLoader(data):
                model(x).sum().backward()
            """,
            reason="there is a DataLoader, which HVD302 shards",
        ),
    ),
)
