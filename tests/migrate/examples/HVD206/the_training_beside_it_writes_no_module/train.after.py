import sys
import torch

state = {name.removeprefix("module."): value for name, value in torch.load(sys.argv[1])["state"].items()}
found = {}
for k, v in state.items():
    if k.startswith("encoder."):
        found[k[len("encoder."):]] = v
torch.save(found, sys.argv[2])
