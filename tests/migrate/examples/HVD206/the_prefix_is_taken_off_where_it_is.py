# Kept: the prefix is taken off where it is, and nothing happens where it is not

from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
a = {key.replace("module.", ""): value for key, value in state.items()}
b = {(key[7:] if key.startswith("module.") else key): value for key, value in state.items()}
c = {key.removeprefix("module."): value for key, value in state.items()}
d = {(key[7:] if key.startswith("module") else key): value for key, value in state.items()}
for key in list(state.keys()):
    if key.startswith("module."):
        state[key[len("module."):]] = state.pop(key)
