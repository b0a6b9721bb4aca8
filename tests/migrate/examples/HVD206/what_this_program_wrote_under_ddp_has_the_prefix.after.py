import torch
from torch.nn.parallel import DistributedDataParallel as DDP

def load(path, head):
    checkpoint = torch.load(path)
    state = {name.removeprefix("module."): value for name, value in checkpoint["state_dict"].items()}
    for k in list(state.keys()):
        if k.startswith("encoder") and not k.startswith('encoder.%s' % head):
            state[k[len("encoder."):]] = state[k]
        del state[k]
    epoch = checkpoint["epoch"]
    return state, epoch

def check(state, path):
    before = {name.removeprefix("module."): value for name, value in torch.load(path)["state_dict"].items()}
    for k in list(state.keys()):
        name = "encoder." + k[len("module."):] if k.startswith("module.") else "encoder." + k
        assert (state[k] == before[name]).all()

model = DDP(net)
model.module.load_state_dict(load("a.pt", "fc")[0])
check(model.state_dict(), "a.pt")
