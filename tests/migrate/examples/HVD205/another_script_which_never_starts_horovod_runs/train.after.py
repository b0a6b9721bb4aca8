import horovod.torch as hvd
import torch
import torch.distributed as dist
from torchvision.models import resnet18
from torch.nn.parallel import DistributedDataParallel as DDP

def validate(net):
    net.eval()
    if hvd.is_initialized():
        hvd.broadcast_parameters(dict(net.named_buffers()), root_rank=0)
    return net(x)

def main():
    dist.init_process_group("nccl")
    model = DDP(resnet18())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss.backward()
    validate(model)

if __name__ == "__main__":
    main()
