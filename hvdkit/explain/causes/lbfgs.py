"""The state of LBFGS cannot be broadcast."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="lbfgs",
    title="Horovod does not broadcast the state of LBFGS{where}",
    why="LBFGS keeps Python lists of tensors, which broadcast_optimizer_state does not know.",
    fix=(
        "optimizer.load_state_dict(hvd.broadcast_object(optimizer.state_dict(), root_rank=0)), or"
        " hvdkit.torch's hvd.broadcast(model, optimizer)"
    ),
    find=says(
        r"cannot broadcast torch\.optim\.LBFGS state",
    ),
    excerpt="""\
    raise ValueError('cannot broadcast torch.optim.LBFGS state')
ValueError: cannot broadcast torch.optim.LBFGS state
""",
)
