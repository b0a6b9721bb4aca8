# Kept: it is the other optimizer that is waited for, and the step reduces its own gradients

import horovod.torch as hvd
import torch

hvd.init()
optimizer_G = hvd.DistributedOptimizer(torch.optim.SGD(generator.parameters(), lr=0.1))
optimizer_D = hvd.DistributedOptimizer(torch.optim.SGD(critic.parameters(), lr=0.1))
for x in batches:
    critic(generator(x)).sum().backward()
    optimizer_D.synchronize()
    optimizer_G.step()
