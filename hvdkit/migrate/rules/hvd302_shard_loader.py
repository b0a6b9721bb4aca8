"""HVD302: the training loader of a single-process script gives each rank its own share."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.facts import Loader
from hvdkit.migrate.names import Names
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rule import Change, Keep, Rule


def check(facts: Facts) -> Iterator[Finding]:
    for loader in facts.loaders:
        if facts.kinds(loader.names) - {"none"} != {"single"} or not facts.training(loader):
            continue
        names, node = loader.names, loader.node
        if facts.sharded(loader) or _distributed(facts, loader):
            continue
        problem = _problem(loader)
        if problem and facts.options.target == "horovod":
            advice = "give each rank its own share of the data, by hvd.rank() and hvd.size()"
            yield facts.manual(
                "HVD302", names, node, f"the training data must be sharded, but {problem}", advice
            )
            continue
        message = "each rank draws its own share of the training data"
        yield facts.safe("HVD302", names, node, message, _edits, facts, loader)


def _distributed(facts: Facts, loader: Loader) -> bool:
    parent = loader.names.parents.get(loader.node)
    return isinstance(parent, ast.Call) and "hvdkit.torch.distribute" in loader.names.qualified(parent.func)


def _problem(loader: Loader) -> str:
    if loader.batch_sampler is not None:
        return "it has a batch_sampler of its own"
    if loader.sampler is not None:
        return "it has a sampler of its own"
    if not isinstance(loader.dataset, (ast.Name, ast.Attribute)):
        return "its data set has no name"
    if loader.shuffle is not None and not _keyword(loader, "shuffle"):
        return "shuffle is passed by position"
    if any(keyword.arg is None for keyword in loader.node.keywords):
        return "some of its arguments come from **"
    return ""


def _keyword(loader: Loader, name: str) -> ast.keyword | None:
    return next((keyword for keyword in loader.node.keywords if keyword.arg == name), None)


def _edits(facts: Facts, loader: Loader) -> list[Edit]:
    names, source = loader.names, loader.names.source
    hvd = facts.hvd(names)
    if facts.options.target == "hvdkit":
        return edits.wrap(source, loader.node, f"{hvd}.distribute(", ")")
    assert loader.dataset is not None
    shuffle = source.segment(loader.shuffle) if loader.shuffle is not None else "False"
    sampler = (
        f"DistributedSampler({source.segment(loader.dataset)}, num_replicas={hvd}.size(), "
        f"rank={hvd}.rank(), shuffle={shuffle})"
    )
    made: list[Edit] = []
    statement = names.statement(loader.node)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
        variable = _sampler_name(names, statement.targets[0].id)
        made.append(edits.before(source, statement, [f"{variable} = {sampler}"]))
        sampler = variable
    keyword = _keyword(loader, "shuffle")
    if keyword is not None:
        return [*made, edits.replace(source, keyword, f"sampler={sampler}")]
    return [*made, edits.add_arguments(source, loader.node, [f"sampler={sampler}"])]


def _sampler_name(names: Names, loader: str) -> str:
    """A free name for the sampler that goes with a loader's name."""
    name = loader.replace("loader", "sampler") if "loader" in loader else f"{loader}_sampler"
    while name in names.uses:
        name += "_"
    return name


RULE = Rule(
    id="HVD302",
    title="the training loader is sharded",
    what="Gives the DataLoader that a training loop runs over a DistributedSampler; shuffle moves into it.",
    why="Without it every rank trains on all of the data: N times the work for the same epochs.",
    safety=(
        "Safe: the batch size per process stays, shuffling stays on or off as it was. Loaders that only "
        "evaluate are left alone: every rank sees all of their data and gets the same result."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.utils.data import DataLoader

            loader = DataLoader(data, batch_size=8, shuffle=True)
            for x in loader:
                model(x).sum().backward()
            """,
            """\
            import horovod.torch as hvd
            import torch
            from torch.utils.data import DataLoader
            from torch.utils.data.distributed import DistributedSampler

            sampler = DistributedSampler(data, num_replicas=hvd.size(), rank=hvd.rank(), shuffle=True)
            loader = DataLoader(data, batch_size=8, sampler=sampler)
            for x in loader:
                model(x).sum().backward()
            """,
        ),
        Change(
            """\
            from torch.utils.data import DataLoader

            def train(loader):
                for i, x in enumerate(loader):
                    model(x).sum().backward()

            train(DataLoader(data, batch_size=8, shuffle=True))
            """,
            """\
            import hvdkit.torch as hvd
            from torch.utils.data import DataLoader

            def train(loader):
                for i, x in enumerate(loader):
                    model(x).sum().backward()

            train(hvd.distribute(DataLoader(data, batch_size=8, shuffle=True)))
            """,
            target="hvdkit",
        ),
    ),
    keeps=(
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, batch_size=8):
                print(model(x))
            loss.backward()
            """,
            reason="no backward pass runs inside the loop: it evaluates",
        ),
        Keep(
            """\
            from torch.utils.data import DataLoader

            for x in DataLoader(data, batch_sampler=mine):
                model(x).backward()
            """,
            reason="how its own batch sampler is to be split only its author knows",
            reported=True,
        ),
    ),
)
