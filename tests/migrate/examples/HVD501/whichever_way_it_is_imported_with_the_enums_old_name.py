# Changed: Whichever way it is imported, with the enum's old name, and with the world's old number.

from torch import distributed
from torch.distributed import ReduceOp, all_reduce as reduce_everywhere

reduce_everywhere(a.mul_(2), ReduceOp.PRODUCT)
distributed.all_reduce(
    b,
    op=distributed.reduce_op.SUM,
)
distributed.all_reduce(c, op=distributed.reduce_op.SUM, group=0)
