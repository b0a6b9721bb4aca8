"""The pretrained weights that the scripts load."""

import torch
from original import build

torch.manual_seed(7)
torch.save(build().state_dict(), "pretrained.pt")
