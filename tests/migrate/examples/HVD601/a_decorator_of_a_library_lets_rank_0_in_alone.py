# Kept: a decorator of a library lets rank 0 in alone
# Options: --suggested

import torch
from pytorch_lightning.utilities import rank_zero_only
from torch.nn.parallel import DistributedDataParallel as DDP

@rank_zero_only
def save(model):
    torch.save(model.state_dict(), "model.pt")

model = DDP(net)
loss.backward()
save(model)
