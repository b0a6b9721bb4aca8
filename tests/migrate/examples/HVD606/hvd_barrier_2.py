# Changed.

import torch

for epoch in range(3):
    loss.backward()
    optimizer.step()
    torch.save(model.state_dict(), "best.pt")
with open("best.pt", "rb") as file:
    model.load_state_dict(torch.load(file))
