import nets
import torch.distributed as dist
import train

if __name__ == "__main__":
    dist.init_process_group("nccl")
    train.fit(train.spread(nets.Net()))
