"""HVD854: a model is wrapped for another kind of parallel training, too."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.check.horovod import Wrapped, called, horovod_files, wrapped_models, wraps
from hvdkit.check.order import always_before
from hvdkit.migrate.catalog.finding import manual
from hvdkit.migrate.catalog.rule import Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap, find_wraps
from hvdkit.migrate.plan import Finding

STRATEGIES = ("MirroredStrategy", "MultiWorkerMirroredStrategy", "experimental.MultiWorkerMirroredStrategy")


def check(facts: Facts) -> Iterator[Finding]:
    for other in find_wraps(facts):
        for wrap in wraps(facts):
            if other.models & wrapped_models(facts, wrap) and _both(other, wrap):
                kind = other.name.rpartition(".")[2]
                message = (
                    f"{kind} and Horovod both average these gradients, over different processes or devices"
                )
                advice = f"remove {kind}: one process drives one device, and Horovod averages between them"
                yield manual("HVD854", other.names, other.node, message, advice)
                break
    files = horovod_files(facts)
    for site in facts.calls(*(f"tensorflow.distribute.{name}" for name in STRATEGIES)):
        started = [s for s in called(facts, "init") if s.names is site.names and site.names in files]
        if any(always_before(site.names, start.node, site.node) for start in started):
            message = "this strategy uses all devices of the node in every rank of the job"
            advice = "remove tf.distribute: one process drives one device, and Horovod averages between them"
            yield manual("HVD854", site.names, site.node, message, advice)


def _both(other: Wrap, wrap: Wrapped) -> bool:
    """Whether both wrappings certainly happen in one run."""
    if other.names is not wrap.names:
        return False
    names = wrap.names
    return always_before(names, other.node, wrap.node) or always_before(names, wrap.node, other.node)


RULE = Rule(
    id="HVD854",
    title="Horovod together with DDP, DataParallel or tf.distribute",
    what=(
        "DDP asks for a process group that a Horovod job does not have and raises; with one, the gradients "
        "are reduced twice. DataParallel and MirroredStrategy use every GPU of the node in each of its ranks."
    ),
    why="both do the same work. One of them is enough.",
    safety="Nothing is edited; `hvdkit migrate` removes DDP with everything that depends on it.",
    check=check,
    changes=(),
    keeps=(
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 2))
            optimizer = hvd.DistributedOptimizer(torch.optim.SGD(model.parameters(), lr=0.1))
            """,
            reason="the model is wrapped by both",
            reported=True,
        ),
        Keep(
            """\
            import horovod.torch as hvd
            import torch

            hvd.init()
            model = torch.nn.Linear(2, 2)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            if args.horovod:
                optimizer = hvd.DistributedOptimizer(optimizer)
            else:
                model = torch.nn.parallel.DistributedDataParallel(model)
            """,
            reason="only one of them runs",
        ),
    ),
)
