"""What Horovod's fp16 compression computes, in the original: DDP's average with the same roundings.

Horovod rounds each rank's gradient to float16, then their sum, then the sum divided by the ranks. With the
average of DDP that is no small change: for gradients a and b it moves an element by up to
2**-12 * (|a| + |b|) + 2**-24, and where a and b nearly cancel nothing of it may be left. No bound on the
weights after some steps follows from this that would still catch a mistake, so the original is run again
with these roundings; the sum of two has one order, and every bit must agree.

torch's fp16_compress_hook divides before it sums. Halving loses the last bit of what is below 2**-13, so that
hook's average is up to 2**-24 and one unit in the last place away from Horovod's; it is replaced as well.
"""

from __future__ import annotations

from typing import Any

import torch

from hvdkit.verify.hook.ddp import reduce_by


def narrow_ddp() -> None:
    """Let each DistributedDataParallel average in float16 as Horovod does."""
    reduce_by(_average_in_float16)


def _average_in_float16(group: Any, bucket: Any) -> Any:
    import torch.distributed as dist

    gradients = bucket.buffer()
    work = dist.all_reduce(gradients.to(torch.float16), group=group, async_op=True)
    count = dist.get_world_size(group)
    return work.get_future().then(lambda done: (done.value()[0] / count).to(gradients.dtype))
