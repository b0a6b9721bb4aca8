# Changed: Another script, which never starts Horovod, runs this function, too.

import torch
import torch.distributed as dist
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

def validate(net):
    net.eval()
    return net(x)

def main():
    dist.init_process_group("nccl")
    model = DDP(resnet18())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss.backward()
    validate(model)

if __name__ == "__main__":
    main()
