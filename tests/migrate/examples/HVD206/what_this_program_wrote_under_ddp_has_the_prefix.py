# Changed: What this program wrote under DDP has the prefix, and what it writes from now on has none.
# Options: --suggested

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def load(path, head):
    checkpoint = torch.load(path)
    state = checkpoint["state_dict"]
    for k in list(state.keys()):
        if k.startswith("module.encoder") and not k.startswith('module.encoder.%s' % head):
            state[k[len("module.encoder."):]] = state[k]
        del state[k]
    epoch = checkpoint["epoch"]
    return state, epoch

def check(state, path):
    before = torch.load(path)["state_dict"]
    for k in list(state.keys()):
        name = "module.encoder." + k[len("module."):] if k.startswith("module.") else "module.encoder." + k
        assert (state[k] == before[name]).all()

model = DDP(net)
model.module.load_state_dict(load("a.pt", "fc")[0])
check(model.state_dict(), "a.pt")
