"""HVD208: a function that makes a model average its gradients by hooks goes, as DDP does."""

from __future__ import annotations

from collections.abc import Iterator

from hvdkit.migrate import edits
from hvdkit.migrate.catalog.finding import required, safe
from hvdkit.migrate.catalog.rule import Change, Rule
from hvdkit.migrate.facts import Facts
from hvdkit.migrate.facts.models.wraps import Wrap, core
from hvdkit.migrate.facts.optimizers.averaged_by_hand import averages_by_hand
from hvdkit.migrate.plan import Edit, Finding
from hvdkit.migrate.rewrites.wrapping import broadcast_line, take_away


def check(facts: Facts) -> Iterator[Finding]:
    for hooking in averages_by_hand(facts).hookings:
        names, call = hooking.wrap.names, hooking.wrap.node
        message = f"{hooking.function.name}() does with hooks what DDP does, and is removed as well"
        finding = required(facts, "HVD208", names, call, message, _edits, facts, hooking.wrap)
        yield finding.knowing(". ".join(hooking.notes))
    for names, function in averages_by_hand(facts).unneeded(averages_by_hand(facts).hookings):
        message = f"{function.name} is no longer used"
        yield safe(facts, "HVD208", names, function, message, edits.delete_definition, names, function)


def _edits(facts: Facts, wrap: Wrap) -> list[Edit]:
    assert wrap.inner is not None
    inner = core(facts, wrap.names, wrap.inner)
    return take_away(
        wrap.names, wrap.node, wrap.inner, inner, lambda model: [broadcast_line(facts, wrap.names, model)]
    )


RULE = Rule(
    id="HVD208",
    title="hooks that average are removed",
    what=(
        "Removes calls such as `model = apply_gradient_allreduce(model)`, whose hooks average the gradients "
        "when a backward pass is over, broadcasts the model in the same place, and removes the function "
        "when nothing else uses it."
    ),
    why=(
        "Horovod averages gradients in the optimizer (HVD401). With both, they would be averaged twice, "
        "while Horovod reduces the same tensors."
    ),
    safety=(
        "Safe: only where it is shown that the hooks sum all gradients of the model, divide them by the "
        "world size once, and do nothing else; anything else is refused (HVD904). With two ranks in float32 "
        "the weights are bit-identical; with more, the last bit of a gradient may differ. A parameter "
        "without a gradient now has zeros, which is reported."
    ),
    check=check,
    changes=(
        Change(
            """\
            import torch
            import torch.distributed as dist
            from torch._utils import _flatten_dense_tensors, _unflatten_dense_tensors
            from torch.autograd import Variable

            def apply_gradient_allreduce(module):
                for p in module.state_dict().values():
                    dist.broadcast(p, 0)

                def average():
                    if module.waiting:
                        module.waiting = False
                        grads = [p.grad.data for p in module.parameters() if p.grad is not None]
                        flat = _flatten_dense_tensors(grads)
                        dist.all_reduce(flat)
                        flat /= dist.get_world_size()
                        for old, new in zip(grads, _unflatten_dense_tensors(flat, grads)):
                            old.copy_(new)

                for p in list(module.parameters()):
                    def hook(*unused):
                        Variable._execution_engine.queue_callback(average)
                    if p.requires_grad:
                        p.register_hook(hook)

                def wait(self, input, output):
                    self.waiting = True

                module.register_forward_hook(wait)
                return module

            dist.init_process_group("gloo")
            model = apply_gradient_allreduce(torch.nn.Linear(2, 1))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            """\
            import horovod.torch as hvd
            import torch
            import torch.distributed as dist

            dist.init_process_group("gloo")
            model = torch.nn.Linear(2, 1)
            hvd.broadcast_parameters(model.state_dict(), root_rank=0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            """,
            note="As NVIDIA's tacotron2 and waveglow have it.",
        ),
    ),
    keeps=(),
)
