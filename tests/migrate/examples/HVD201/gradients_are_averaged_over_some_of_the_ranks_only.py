# Reported: gradients are averaged over some of the ranks only: the optimizer needs the same set

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net, process_group=half)
