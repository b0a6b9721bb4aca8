# Reported: what the model does not have is passed over: the same

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(net)
state = torch.load("pretrained.pt")
known = model.state_dict()
known.update({key: value for key, value in state.items() if key in known})
model.load_state_dict(known)
