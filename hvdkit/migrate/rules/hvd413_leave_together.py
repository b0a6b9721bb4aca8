"""HVD413: where a number that each rank has of its own ends the training, it ends on all ranks at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.loops import training_loops
from hvdkit.migrate.facts.collectives.different_on_every_rank import of_own_numbers
from hvdkit.migrate.facts.collectives.ways_apart import WayApart, ways_apart, ways_around
from hvdkit.migrate.facts.data.reinforcement_learning import ends_episode
from hvdkit.migrate.facts.models.optimizers import in_input_fit
from hvdkit.migrate.facts.programs.horovod_import import horovod_name
from hvdkit.migrate.facts.programs.programs import kinds_of
from hvdkit.migrate.facts.programs.reached_code import only_single
from hvdkit.migrate.plan import Finding
from hvdkit.source.edits import Edit
from hvdkit.source.index.names import Names

# Ignite's handlers that end a training: by a score, by a loss, by the clock.
STOPPERS = tuple(
    f"ignite.handlers.{module}{name}"
    for module, name in (
        ("", "EarlyStopping"),
        ("", "TerminateOnNan"),
        ("", "TimeLimit"),
        ("early_stopping.", "EarlyStopping"),
        ("terminate_on_nan.", "TerminateOnNan"),
        ("time_limit.", "TimeLimit"),
    )
)
SAME_SCORE = (
    "make all ranks stop together: average the score over the ranks (hvd.allreduce), and for a NaN or a "
    "time limit use your own handler that lets rank 0 decide, hvd.broadcast_object(...), before "
    "engine.terminate()"
)

EPISODE = (
    "an episode ends here earlier on one rank than on another, which then takes more or fewer steps: the "
    "ranks wait for each other's gradients in each step"
)
SAME_STEPS = (
    "count steps, not episodes, in the training loop, the same number on all ranks, and let each rank reset "
    "its own environment when its episode is over, without leaving that loop"
)


def check(facts: Facts) -> Iterator[Finding]:
    paths = [p for p in training_loops(facts).paths if not in_input_fit(facts, p.names, p.backward)]
    loops = {loop.node for path in paths for loop in path.loops}
    files = {loop.names: None for path in paths for loop in path.loops}
    ways = [way for names in files if only_single(facts, names) for way in ways_apart(facts, names, loops)]
    ways += [way for way in ways_around(facts) if only_single(facts, way.names)]
    # The ranks of a distributed original part by the same number, or agree on it: rank 0 decides, where it can.
    ways += [
        way
        for names in files
        if kinds_of(facts, names) - {"none"} == {"ddp"}
        for way in ways_apart(facts, names, loops)
        if way.leaves and (way.together or way.by_rank) and not ends_episode(facts, names, way.test)
    ]
    asked: set[ast.expr] = set()
    for way in ways:
        if way.test not in asked and of_own_numbers(facts, way.names, way.test):
            asked.add(way.test)
            yield _leaves(facts, way) if way.leaves else _skips(facts, way.names, way.test)
    for site in facts.calls(*STOPPERS):
        if only_single(facts, site.names):
            message = "this handler ends the training based on a value that differs between ranks"
            yield manual("HVD413", site.names, site.node, message, SAME_SCORE)


def _skips(facts: Facts, names: Names, test: ast.expr) -> Finding:
    hvd = horovod_name(facts, names)
    message = (
        "each rank would skip a batch based on its own value, and the others would wait for its gradients"
    )
    advice = (
        f"skip it on all ranks where one has to: {hvd}.allreduce(torch.as_tensor(float(...)), op={hvd}.Max) "
        "> 0, in a test that all ranks reach"
    )
    return manual("HVD413", names, test, message, advice)


def _leaves(facts: Facts, way: WayApart) -> Finding:
    names, test = way.names, way.test
    if ends_episode(facts, names, test):
        return manual("HVD413", names, test, EPISODE, SAME_STEPS)
    message = (
        "each rank would leave this loop based on its own value, and the others would wait for its gradients"
    )
    if way.together:
        message += ": rank 0 decides"
        return safe(facts, "HVD413", names, test, message, _edits, facts, names, test)
    advice = f"let rank 0 decide where all ranks run: {horovod_name(facts, names)}.broadcast_object(bool(...), root_rank=0)"
    return manual("HVD413", names, test, message, advice)


def _edits(facts: Facts, names: Names, test: ast.expr) -> list[Edit]:
    return edits.wrap(
        names.source, test, f"{horovod_name(facts, names)}.broadcast_object(bool(", "), root_rank=0)"
    )


RULE = Rule(
    id="HVD413",
    title="ranks leave the training loop together",
    what=(
        "Lets rank 0 decide where a script leaves its training loop based on a loss, a "
        "metric or the time: early stopping, a limit on the KL divergence, a time limit. A batch that is "
        "skipped based on such a value is reported."
    ),
    why=(
        "A loss now differs on each rank, and so does a metric of a model with BatchNorm. A rank that "
        "leaves the loop does not take part in the next average, and the others wait for it."
    ),
    safety=(
        "Safe: every rank reaches the test the same number of times, because rank 0 also decides the tests around "
        "it, and where the ranks of a distributed script agree, nothing changes. Where that is not shown, in a "
        "loop over something else, the test of a single-process script is reported."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = criterion(model(x), y).mean()
            while loss > 0.1:
                loss = criterion(model(x), y).mean()
                loss.backward()
                optimizer.step()
            """,
            """\
            import horovod.torch as hvd
            import torch

            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            loss = criterion(model(x), y).mean()
            while hvd.broadcast_object(bool(loss > 0.1), root_rank=0):
                loss = criterion(model(x), y).mean()
                loss.backward()
                optimizer.step()
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import torch

            for number, batch in enumerate(torch.utils.data.DataLoader(data, batch_size=4)):
                if number >= args.skip:
                    loss = model(batch).sum()
                    if torch.isfinite(loss).item():
                        loss.backward()
                    optimizer.step()
            """,
            reason="all ranks count the same, and a step without a backward pass sends zeros",
        ),
    ),
)
