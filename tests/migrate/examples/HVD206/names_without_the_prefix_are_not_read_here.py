# Reported: names without the prefix are not read here

from torch.nn.parallel import DistributedDataParallel as DDP

def cut(state):
    if "module.head.weight" in state:
        del state["module.head.weight"]
    return state

model = DDP(net)
cut({})
