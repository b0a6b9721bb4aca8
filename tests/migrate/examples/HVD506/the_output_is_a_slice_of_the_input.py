# Reported: the output is a slice of the input: it cannot be shown that both may be read at once

import torch.distributed as dist

dist.reduce_scatter_tensor(whole[rank * n : (rank + 1) * n], whole)
