# Kept: the function asks whether the model is wrapped, and puts the prefix on only then

from torch.nn.parallel import DistributedDataParallel as DDP

def follow(model, average):
    state = model.state_dict()
    wrapped = hasattr(model, "module") and not hasattr(average, "module")
    for k, v in average.state_dict().items():
        if wrapped and not k.startswith("module."):
            k = "module." + k
        v.copy_(0.9 * v + 0.1 * state[k])

model = DDP(net)
follow(model, average)
