import horovod.torch as hvd
import torch
from datetime import datetime

def stamp():
    return str(datetime.now())[:-10].replace(" ", "-")

def kept(path):
    return path.replace("last.pt")

for epoch in range(10):
    model(x).sum().backward()
    optimizer.step()
    if hvd.rank() == 0:
        torch.save(model.state_dict(), "model_{}.pt".format(stamp()))
    # hvdkit: TODO[HVD601] put the writing under `if hvd.rank() == 0:`, the code that all ranks have to run outside it, and a barrier before the file is read
    torch.save(model.state_dict(), kept(path))
