# Kept: the function with the underscore works in place

import horovod.torch as hvd
import torch

hvd.init()
loss = torch.ones(1)
hvd.allreduce_(loss)
print(loss)
