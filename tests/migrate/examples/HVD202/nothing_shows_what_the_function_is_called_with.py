# Reported: nothing shows what the function is called with

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
def export(thing):
    return thing.module.state_dict()
