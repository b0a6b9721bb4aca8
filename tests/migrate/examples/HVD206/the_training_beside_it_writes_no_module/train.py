# Changed: The training beside it writes no module. any more: nothing would be found, and no error told.
# Options: --suggested

import sys
import torch

state = torch.load(sys.argv[1])["state"]
found = {}
for k, v in state.items():
    if k.startswith("module.encoder."):
        found[k[len("module.encoder."):]] = v
torch.save(found, sys.argv[2])
