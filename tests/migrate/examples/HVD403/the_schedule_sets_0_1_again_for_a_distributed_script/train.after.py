import horovod.torch as hvd
import torch
from schedule import Poly

optimizer = torch.optim.SGD(net.parameters(), lr=0.1 * hvd.size())
schedule = Poly(0.1)
for i, x in enumerate(batches):
    schedule(optimizer, i)
    net(x).sum().backward()
    optimizer.step()
