# Changed.

from torch.nn.parallel import DistributedDataParallel as DDP

stages = [DDP(stage.cuda()) for stage in build()]
heads = {name: DDP(head) for name, head in more()}
