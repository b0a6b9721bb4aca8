# Kept: the other ranks of a host wait where the download is called

import horovod.torch as hvd
import torch
from urllib.request import urlretrieve

def weights(path):
    urlretrieve(URL, path)
    return torch.load(path)

if hvd.local_rank() != 0:
    hvd.barrier()
model.load_state_dict(weights("model.pth"))
if hvd.local_rank() == 0:
    hvd.barrier()
model(x).sum().backward()
optimizer.step()
