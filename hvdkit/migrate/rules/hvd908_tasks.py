"""HVD908: models that a task engine or a search of hyperparameters trains are left as they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import refused
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.code.pools import in_pool, in_search
from hvdkit.migrate.facts.keras.applied import applied_gradients
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import migrates
from hvdkit.migrate.facts.programs.tensorflow_programs import migrating_files, migrating_fits
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

IN_POOL = "this model is trained in a process of a pool or a task engine, where Horovod has no rank"
APART = (
    "these trainings already run in parallel; to spread one of them over several GPUs, let its task "
    "start horovodrun with a training script, and run hvdkit migrate on that script"
)
IN_SEARCH = (
    "a search of hyperparameters trains this model: each rank would try different settings, and wait for "
    "gradients that the others do not have"
)
ALIKE = (
    "let rank 0 search and send what it tries, hvd.broadcast_object(settings), or search outside and start "
    "horovodrun for each trial; then run hvdkit migrate on the script that trains"
)


def check(facts: Facts) -> Iterator[Finding]:
    told: set[tuple[Names, ast.AST | None]] = set()
    for names, node in _trained(facts):
        pool = in_pool(facts, names, node)
        key = (names, names.function(node))
        if key in told or not (pool or in_search(facts, names, node)):
            continue
        told.add(key)
        yield refused("HVD908", names, node, *((IN_POOL, APART) if pool else (IN_SEARCH, ALIKE)))


def _trained(facts: Facts) -> Iterator[tuple[Names, ast.AST]]:
    """The optimizers of programs that are migrated, and the calls by which Keras trains."""
    for optimizer in averaging_optimizers(facts):
        if not optimizer.wrapped and migrates(facts, optimizer.names):
            yield optimizer.names, optimizer.node
    for fit in migrating_fits(facts):
        yield fit.names, fit.node
    for applied in applied_gradients(facts):
        if applied.names in migrating_files(facts):
            yield applied.names, applied.node


RULE = Rule(
    id="HVD908",
    title="training inside task engines and searches is refused",
    what=(
        "Leaves alone programs whose models are trained in the processes of a pool, of Parsl, Ray, Dask or "
        "joblib, or by a search of hyperparameters: Optuna, hyperopt, DeepHyper, Ray Tune, a sweep of wandb."
    ),
    why=(
        "An engine's processes are not started by a Horovod launcher, and hvd.size() fails there. A search "
        "runs on each rank with different settings: the ranks would average gradients of different models, "
        "or hang."
    ),
    safety="Nothing is edited in any file of the program.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import torch
            from parsl import python_app

            @python_app
            def trained(width):
                model = torch.nn.Linear(2, width)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                model(torch.ones(1, 2)).sum().backward()
                optimizer.step()
                return model

            models = [each.result() for each in [trained(1), trained(2)]]
            """,
            reason="the engine trains each model in a separate process",
            reported=True,
        ),
        Keep(
            """\
            import torch
            from joblib import Parallel, delayed

            def read(path):
                return torch.load(path)

            data = Parallel(4)(delayed(read)(path) for path in paths)
            model = torch.nn.Linear(2, 1)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(data).sum().backward()
            optimizer.step()
            """,
            reason="the engine's processes only read",
        ),
    ),
)
