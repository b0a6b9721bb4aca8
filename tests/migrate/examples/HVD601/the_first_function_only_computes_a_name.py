# Changed: The first function only computes a name; the second one moves a file.

import torch
from datetime import datetime

def stamp():
    return str(datetime.now())[:-10].replace(" ", "-")

def kept(path):
    return path.replace("last.pt")

for epoch in range(10):
    model(x).sum().backward()
    optimizer.step()
    torch.save(model.state_dict(), "model_{}.pt".format(stamp()))
    torch.save(model.state_dict(), kept(path))
