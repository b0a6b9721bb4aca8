# Reported: what the training writes into model.pt has no module. any more, and this program keeps its
# wrapper

import torch

model = torch.nn.DataParallel(torch.nn.Linear(2, 1))
model.load_state_dict(torch.load("model.pt")["state"], strict=False)
model = model.module
