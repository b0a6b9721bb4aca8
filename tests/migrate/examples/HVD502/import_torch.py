# Changed.

import torch

handle = torch.distributed.broadcast(tensor=value, src=src, async_op=True)
prepare()
handle.wait()
