import horovod.torch as hvd
import torch

def train(net, batches, rate, steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=rate * hvd.size())
    for x in batches:
        optimizer.param_groups[0]["lr"] -= rate / steps * hvd.size()
        net(x).sum().backward()
        optimizer.step()

train(torch.nn.Linear(2, 1), batches, 0.1, 100)
