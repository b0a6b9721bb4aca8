import horovod.torch as hvd
import torch

hvd.init()
if torch.cuda.is_available():
    torch.cuda.set_device(hvd.local_rank())

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.ones(2)).sum().backward()
optimizer.step()

import math

math.sqrt(2)
