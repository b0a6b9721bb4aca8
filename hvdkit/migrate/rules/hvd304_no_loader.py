"""HVD304: a single-process program that trains without a DataLoader computes the same batches on every rank."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, restored
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import Path
from hvdkit.migrate.facts.data.random_batches import drawn_apart, draws_unseeded, made_apart
from hvdkit.migrate.facts.data.reinforcement_learning import Seeding, played_apart, seeding
from hvdkit.migrate.facts.data.training_loaders import own_loaders, seeds, unfollowed_loaders
from hvdkit.migrate.facts.data.whole_graph import one_batch, whole_graph
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.facts.programs.training_paths import training_paths
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

ADVICE = (
    "let each rank draw its own batches: add hvd.rank() to a seed that is set below every split of the data, or take "
    "every hvd.size()-th batch from the hvd.rank()-th on"
)

ONE_BATCH = "each step computes the same batch, and every rank would compute all of it"
ONE_RANDOM = (
    "each step computes the same batch; every rank would compute all of it, or a different one where it is "
    "drawn at random without a seed"
)
ROWS = (
    "where its rows do not depend on each other, give each rank its own, as many as the others have: "
    "x[hvd.rank()::hvd.size()]; where they do, nothing can be divided, and this note can go"
)

UNFOLLOWED = (
    "give the DataLoader that feeds it a DistributedSampler(dataset, num_replicas=hvd.size(), "
    "rank=hvd.rank()), in place of shuffle, and call set_epoch on that in each epoch"
)

APART = 1000  # vectors of environments take the seeds that follow
EXPERIENCE = (
    "N ranks with one seed would play the same games: each gets its own seeds, for its environments and for "
    "what is drawn in training"
)

OWN = (
    "pass sampler=DistributedSampler(dataset, num_replicas=hvd.size(), rank=hvd.rank()) to super().__init__ "
    "for the training data, shuffle to the sampler, and call set_epoch on it in each epoch"
)


def check(facts: Facts) -> Iterator[Finding]:
    for program in programs_of(facts):
        paths = training_paths(facts, program)
        if program.kind != "single":
            continue
        for value in own_loaders(facts, program):
            message = "the project's own DataLoader class feeds this training: its samples must be split"
            yield manual("HVD304", value.names, value.node, message, OWN)
        if any(path.loaders for path in paths):
            continue
        if any(by_rank for _, _, by_rank in seeds(facts, program)) or whole_graph(facts, program):
            continue
        for path in paths[:1]:
            names, node = (
                (path.loops[0].names, path.loops[0].node) if path.loops else (path.names, path.backward)
            )
            if drawn_apart(facts, program, path) or made_apart(facts, program, path):
                continue
            if played_apart(facts, program, path):
                continue
            loaders = unfollowed_loaders(facts, program)
            if loaders and _may_draw(facts, path):
                place = loaders[0].names.place(loaders[0].node)
                message = f"whether the DataLoader of {place} feeds this training could not be followed: it is whole"
                yield manual("HVD304", names, node, message, UNFOLLOWED)
                continue
            own = seeding(facts, path)
            if own is not None:
                yield restored(facts, "HVD304", own.names, own.statements[-1], EXPERIENCE, _edits, facts, own)
                continue
            unseeded = draws_unseeded(facts, program)
            if one_batch(facts, path):
                yield manual("HVD304", names, node, ONE_RANDOM if unseeded else ONE_BATCH, ROWS)
                continue
            message = "no DataLoader feeds this training: every rank would compute the same batches"
            if unseeded:
                message += ", but for what is drawn at random in them: nothing seeds that"
            yield manual("HVD304", names, node, message, ADVICE)


def _edits(facts: Facts, own: Seeding) -> list[Edit]:
    """A seed of its own for each rank from here on, and again below what is made alike on all ranks."""
    source = own.names.source
    hvd = horovod_name(facts, own.names)
    apart = f"{own.seed} += {APART} * {hvd}.rank()"
    again = [source.segment(statement) for statement in own.statements]
    together = [
        edits.before(source, test, [f"{mean} = {hvd}.allreduce({mean}, op={hvd}.Average)"])
        for test, mean in own.stops
    ]
    return [
        edits.after(source, own.statements[-1], [apart]),
        edits.before(source, own.loop, again),
        *together,
    ]


def _may_draw(facts: Facts, path: Path) -> bool:
    """Whether a way to a backward pass begins where nobody was seen to call, or a loop on it draws batches."""
    return path.top is not None or any(
        _over_batches(loop.node) or _asks_for_next(facts, loop.names, loop.node) for loop in path.loops
    )


def _over_batches(loop: ast.AST) -> bool:
    if not isinstance(loop, ast.For):
        return False
    return not (isinstance(loop.iter, ast.Call) and getattr(loop.iter.func, "id", "") == "range")


def _asks_for_next(facts: Facts, names: Names, loop: ast.AST) -> bool:
    """Whether a loop, or a function that it calls, has `next(batches)` in it."""
    called = [function for call in names.calls_in(loop) for function in facts.flow.functions(names, call)]
    return any(
        isinstance(call.func, ast.Name) and call.func.id == "next"
        for where, node in ((names, loop), *called)
        for call in where.calls_in(node)
    )


RULE = Rule(
    id="HVD304",
    title="training without a DataLoader",
    what=(
        "Reports the training loop of a single-process program in which no DataLoader was found. Where the "
        "loop steps the environments of gym and its relatives, and one variable seeds all random numbers, "
        "gives each rank its own seeds (with --suggested): for environments that are created below, and "
        "again before training. What is created in between, such as a network that is not trained, is the "
        "same on all ranks. Where each step trains on one graph as a whole there are no batches to divide, "
        "and no change is needed: the program's table shows it."
    ),
    why="N ranks with the same seed compute the same gradients N times: no error, and no speed-up.",
    safety=(
        "Needed for environments, since each rank then collects its own experience: N times as much in a "
        "step. Nothing else is rewritten: only the author knows how the batches are made. Batches that the "
        "loop itself chooses at random, without a seed, differ on every rank."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            x, y = torch.load("all.pt")
            for step in range(100):
                loss = (model(x) - y).pow(2).mean()
                loss.backward()
                optimizer.step()
            """,
            """\
            import torch

            x, y = torch.load("all.pt")
            # hvdkit: TODO[HVD304] where its rows do not depend on each other, give each rank its own, as many as the others have: x[hvd.rank()::hvd.size()]; where they do, nothing can be divided, and this note can go
            for step in range(100):
                loss = (model(x) - y).pow(2).mean()
                loss.backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import random
            import torch

            def pair():
                return random.choice(pairs)

            for step in range(100):
                x, y = pair()
                loss(model(x), y).backward()
                optimizer.step()
            """,
            reason="nothing seeds the choice of batches: every process draws different ones",
        ),
    ),
)
