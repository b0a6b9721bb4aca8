"""HVD201: DDP(model) becomes the model, and its broadcast of rank 0's weights becomes Horovod's."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from hvdkit.migrate.catalog.finding import manual, refused, safe
from hvdkit.migrate.catalog.rule import Change, Keep, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.copied_weights import copies_above
from hvdkit.migrate.facts.models.wraps import (
    MAY_BE_UNUSED,
    STAND_STILL,
    Wrap,
    changes_average,
    chosen_wraps,
    core,
    find_wraps,
)
from hvdkit.migrate.facts.optimizers.after_backward import after_backward
from hvdkit.migrate.facts.optimizers.averaging_optimizers import averaging_optimizers
from hvdkit.migrate.facts.programs.programs import programs_of
from hvdkit.migrate.plan import Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_lines, take_away
from hvdkit.migrate.values import vocabulary as words
from hvdkit.migrate.values.arguments import is_on, keyword
from hvdkit.source.edits import Edit

# What a person writes in place of an argument that says what is averaged.
INSTEAD = {
    "process_group": "give the optimizer process_set=hvd.add_process_set(ranks) for the ranks of this group",
    "device_mesh": "give the optimizer process_set=hvd.add_process_set(ranks) for the ranks of this mesh",
    "param_to_hook_all_reduce": "let the optimizer average all parameters, or exclude those from it",
    "delay_all_reduce_named_params": "let the optimizer average all parameters, or exclude those from it",
    "mixed_precision": "use torch.autocast around the forward pass",
    "gradient_average": "give the optimizer op=hvd.Sum",
}
PREDIVIDED = (
    "gradient_predivide_factor: apex divides by it before it sums the gradients, and by the rest "
    "afterwards, which gives the average; where gradients in float16 overflow, give "
    "hvd.DistributedOptimizer gradient_predivide_factor="
)
UNUSED = (
    "a parameter that no rank used in a step kept no gradient under DDP, and the "
    "optimizer skipped it; Horovod gives it a gradient of zeros, so momentum, weight decay and Adam's "
    "averages keep "
    "moving it. Where that matters, " + STAND_STILL.format("took no part in it on any rank")
)
CHOSEN = (
    "this may call DDP, since its class is chosen or passed on: it needs a process group that no longer "
    "exists"
)
CHOSEN_ADVICE = (
    "remove DDP from the choices, keep the model itself, and call "
    "hvd.broadcast_parameters(model.state_dict(), root_rank=0) here"
)
BY_NAME = (
    "call DDP by its name where it is wanted, `if distributed: model = DDP(model)`, and run hvdkit migrate "
    "again: once the model is known, the gradients can be averaged without the optimizer"
)


def check(facts: Facts) -> Iterator[Finding]:
    for names, call in chosen_wraps(facts):
        programs = [program for program in programs_of(facts) if program.migrates and names in program.files]
        if any(
            not any(o.names in program.files for o in averaging_optimizers(facts)) for program in programs
        ):
            yield refused("HVD201", names, call, f"{CHOSEN}; and no optimizer was found", BY_NAME)
        elif programs:
            yield manual("HVD201", names, call, CHOSEN, CHOSEN_ADVICE)
    for wrap in find_wraps(facts):
        if wrap.name not in words.DDP:
            continue
        names, call = wrap.names, wrap.node
        if wrap.inner is None or isinstance(wrap.inner, ast.Starred):
            advice = "remove the DDP call and call hvd.broadcast_parameters(model.state_dict(), root_rank=0)"
            message = "DDP gets its model in a way that cannot be followed"
            yield manual("HVD201", names, call, message, advice)
            continue
        lost = changes_average(wrap)
        if lost:
            advice = f"remove DDP, broadcast the model from rank 0, and {INSTEAD[lost]}"
            yield manual("HVD201", names, call, f"DDP's {lost} changes what is averaged", advice)
            continue
        message = "DDP is removed; rank 0's parameters and buffers are broadcast in its place"
        finding = safe(facts, "HVD201", names, call, message, _edits, facts, wrap)
        unused = next((name for name in MAY_BE_UNUSED if is_on(keyword(call, name))), None)
        unused = None if call in after_backward(facts).wraps else unused  # HVD416 leaves such a gradient out
        divided = keyword(call, "gradient_predivide_factor") is not None
        yield finding.knowing(f"{unused}: {UNUSED}" if unused else PREDIVIDED if divided else "")


def _edits(facts: Facts, wrap: Wrap) -> list[Edit]:
    assert wrap.inner is not None
    inner = core(facts, wrap.names, wrap.inner)

    source, statement = wrap.names.source, wrap.names.statement(wrap.node)
    copies = copies_above(facts, wrap.names, statement, [source.segment(inner)])

    def lines(model: str) -> list[str]:
        return broadcast_lines(facts, wrap.names, [model], copies)

    return take_away(wrap.names, wrap.node, wrap.inner, inner, lines)


RULE = Rule(
    id="HVD201",
    title="DDP is removed",
    what=(
        "Removes DistributedDataParallel (torch's or apex's) and broadcasts the model in the same place. Models that took "
        "their weights from it above, such as averages, get rank 0's, too."
    ),
    why=(
        "Horovod averages gradients in the optimizer. DDP needs a process group that no longer exists, and "
        "with both, gradients would be averaged twice. DDP's constructor also sends rank 0's parameters and "
        "buffers to all ranks; the broadcast keeps that, at the same point in the program. Devices, buckets, "
        "static_graph and gradient_as_bucket_view have no meaning in Horovod; an argument that changes what "
        "is averaged (process_group, mixed_precision, apex's gradient_average) leaves the call to you."
    ),
    safety=(
        "Safe: same average, same start. With two ranks in float32 the weights are bit-identical. One "
        "difference is reported: with find_unused_parameters, or apex's delay_allreduce, a parameter that "
        "no rank used in a step had no gradient, and now has zeros."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            from torch.nn.parallel import DistributedDataParallel as DDP

            model = torch.nn.Linear(2, 1)
            model = DDP(model, device_ids=[0])  # one device per process
            """,
            """\
            import horovod.torch as hvd
            import torch

            model = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)  # one device per process
            """,
        ),
    ),
    keeps=(
        Keep(
            """\
            from mylib import DistributedDataParallel as DDP

            model = DDP(net)
            """,
            reason="another library's class of that name is not torch's",
        ),
    ),
)
