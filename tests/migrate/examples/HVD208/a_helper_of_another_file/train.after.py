import horovod.torch as hvd
import torch
from hooks import start

start()
model = torch.nn.Linear(2, 1)
if distributed:
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
