# Kept: it is a Horovod program already

import horovod.torch as hvd
import torch

hvd.init()
torch.ones(1, requires_grad=True).sum().backward()
