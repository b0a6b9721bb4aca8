# Kept: it reads what was there before

import torch

model.load_state_dict(torch.load("pretrained.pt"))
loss.backward()
torch.save(model.state_dict(), "best.pt")
