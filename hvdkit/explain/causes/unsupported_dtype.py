"""A tensor type that Horovod does not send."""

from __future__ import annotations

from hvdkit.explain.cause import Cause, says

CAUSE = Cause(
    id="unsupported_dtype",
    title="Horovod cannot send a {type}{where}",
    why=(
        "Horovod 0.28.1 reduces int32, int64, float16, float32 and float64 tensors of PyTorch, and no others."
    ),
    fix=(
        "hvd.allreduce(tensor.float(), ...).to(tensor.dtype), or import hvdkit.torch as hvd, "
        "whose DistributedOptimizer and broadcast take bfloat16 and bool"
    ),
    find=says(
        r"ValueError: Tensor type (?P<type>[\w.]+) is not supported",
    ),
    excerpt="""\
ValueError: Tensor type torch.BFloat16Tensor is not supported.
""",
    general={"type": "tensor of that type"},
)
