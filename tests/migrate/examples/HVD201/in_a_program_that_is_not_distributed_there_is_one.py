# Changed: In a program that is not distributed there is one rank, and nothing is sent.

from torch.nn.parallel import DistributedDataParallel as DDP

net = DDP(net) if args.distributed else net
other = DDP(make()) if world > 1 else make()
