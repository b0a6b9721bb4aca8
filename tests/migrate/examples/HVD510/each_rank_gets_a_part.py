# Reported: each rank gets a part of the sum, or of what the others hold

import torch.distributed as dist

dist.reduce_scatter_tensor(part, whole, op=dist.ReduceOp.MAX)
dist.reduce_scatter(part, [a, b])
dist.all_to_all_single(received, sent, received_sizes, sent_sizes)
