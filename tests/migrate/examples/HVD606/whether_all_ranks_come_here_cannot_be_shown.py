# Kept: whether all ranks come here cannot be shown, and a barrier that one misses never ends

import torch

loss.backward()
torch.save(model.state_dict(), "best.pt")
if check:
    model.load_state_dict(torch.load("best.pt"))
