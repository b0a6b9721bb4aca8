import helpers
from torch.nn.parallel import DistributedDataParallel as DDP

def loss(mel, target):
    target.requires_grad = False
    return (mel - target).sum()

net = DDP(load())
print(loss(net(x), y))
