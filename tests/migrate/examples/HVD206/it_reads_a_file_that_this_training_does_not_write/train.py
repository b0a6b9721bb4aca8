# Kept: it reads a file that this training does not write

import torch

backbone = torch.nn.Linear(2, 1)
state = torch.load("downloaded.tar")["state_dict"]
backbone.load_state_dict({k[7:]: v for k, v in state.items()})
