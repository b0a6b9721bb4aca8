# Kept: names with the prefix and without it are both read

from torch.nn.parallel import DistributedDataParallel as DDP

def convert(state, model):
    if "visual.head.weight" in state:
        return without(state, "visual.")
    elif "module.visual.head.weight" in state:
        prefix = "module.visual."
        return without(state, prefix)
    return state

model = DDP(net)
convert({}, model)
