"""HVD207: what DDP offers besides wrapping: communication hooks, join, and its private methods."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import manual, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.checkpoints.unwrapping import wrapped
from hvdkit.migrate.facts.code.library_uses import mentions
from hvdkit.migrate.facts.optimizers.after_backward import averaged_literally
from hvdkit.migrate.plan import Finding
from hvdkit.source.index.names import Names

HOOKS = "torch.distributed.algorithms.ddp_comm_hooks.default_hooks."
COMPRESSION = (
    "delete this call and give the optimizer compression=hvd.Compression.fp16 (Horovod sums in half "
    "precision and divides after; the hook divides before)"
)
OWN_HOOK = (
    "delete this call and write what the hook does after optimizer.synchronize(), with the step under "
    "optimizer.skip_synchronize(), or as a hvd.Compression class"
)
BY_HAND = (
    "delete this call: below backward() the gradients are averaged without it; anything else the hook does "
    "belongs there"
)
JOIN = (
    "remove the with statement, call last = hvd.join() after the loop, and then hvd.broadcast_parameters("
    "model.state_dict(), root_rank=last): ranks that joined early miss the last steps; or give every rank "
    "the same number of batches (drop_last=True)"
)
IGNORED = ("_set_static_graph", "_set_ddp_runtime_logging_sample_rate")


def check(facts: Facts) -> Iterator[Finding]:
    for names, call, model in facts.methods("register_comm_hook"):
        if wrapped(facts, names, model):
            yield _hook(facts, names, call, averaged_literally(facts, names, model))
    for method in IGNORED:
        for names, call, model in facts.methods(method):
            statement = names.statement(call)
            if wrapped(facts, names, model) and getattr(statement, "value", None) is call:
                message = f"{method}() tunes DDP and has no meaning in Horovod"
                yield safe(facts, "HVD207", names, call, message, edits.delete, names, statement)
    for names, call, model in facts.methods("join"):
        if wrapped(facts, names, model):
            message = "join() lets ranks with fewer batches wait inside DDP"
            yield manual("HVD207", names, call, message, JOIN)
    for names, node, _, _ in mentions(
        facts, ("torch.distributed.algorithms.Join", "torch.distributed.algorithms.join.Join")
    ):
        message = "Join lets ranks with fewer batches wait inside DDP"
        yield manual("HVD207", names, node, message, JOIN)


def _hook(facts: Facts, names: Names, call: ast.Call, literally: bool) -> Finding:
    hook = (
        call.args[1]
        if len(call.args) > 1
        else next((k.value for k in call.keywords if k.arg == "hook"), None)
    )
    qualified = facts.flow.qualified(names, hook) if hook is not None else frozenset()
    if f"{HOOKS}allreduce_hook" in qualified:
        message = "allreduce_hook averages the gradients, as Horovod's optimizer does"
        return safe(facts, "HVD207", names, call, message, edits.delete, names, names.statement(call))
    if f"{HOOKS}fp16_compress_hook" in qualified:
        message = "DDP's hook sends gradients in half precision"
        return manual("HVD207", names, call, message, BY_HAND if literally else COMPRESSION)
    message = "DDP's gradients pass through a hook of the script"
    return manual("HVD207", names, call, message, BY_HAND if literally else OWN_HOOK)


RULE = Rule(
    id="HVD207",
    title="DDP's hooks and methods",
    what=(
        "Deletes the calls that only tune DDP and the hook that does what Horovod does anyway; reports the "
        "other communication hooks, and join, with what takes their place."
    ),
    why="These are methods of the wrapper. On the model itself they do not exist, or mean something else.",
    safety=(
        "Safe where a call changes no number. A hook that compresses or scales gradients does, and Horovod "
        "rounds at a different point than DDP: that is left to you."
    ),
    check=check,
    changes=(
        Change(
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            model._set_static_graph()
            """,
            """\
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = DDP(net)
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            import os
            import torch

            path = os.path.join("a", "b")
            names = ", ".join(["a", "b"])
            thread.join()
            """,
            reason="other classes have join(), too",
        ),
    ),
)
